"""Settings of the bridge's core, with their units."""

from dataclasses import dataclass

from rulesafe_core.errors import RuleSafeError


@dataclass(frozen=True)
class Setting:
    """Bounds of a number and what it means; texts have no bounds."""

    meaning: str
    low: float | None = None
    high: float | None = None


SETTINGS = {
    "speed": Setting(
        "Factor on the arm's limits of velocity (9 rad/s) and acceleration (20 rad/s^2).", 0.01, 1
    ),
    "hand_speed": Setting("Factor on the fingers' velocity limit (0.5 rad/s).", 0.01, 1),
    "margin": Setting("rad that the arm's joints keep from their limits.", 0, 0.2),
    "max_jump": Setting(
        "rad by which an arm joint may change between rows of a chunk, or to its first row.",
        0.01,
        1,
    ),
    "gravity": Setting("Share of the arms' gravity torque that is fed forward.", 0, 1),
    "ramp": Setting("Seconds in which the weight goes from 0 to 1, or back.", 0.2, 30),
    "rate": Setting("Commands a second.", 50, 500),
    "state_timeout": Setting("Seconds without a good state of the robot: FAULT.", 0.01, 10),
    "chunk_timeout": Setting("Seconds that a chunk may be overdue: HOLDING.", 0.05, 60),
    "damping_timeout": Setting("Seconds of HOLDING: DAMPING.", 0.1, 3600),
    "chunk_age": Setting("Seconds after its observation for which a chunk is good.", 0.1, 60),
    "stall_timeout": Setting("Seconds that the bridge itself may stand still.", 0.02, 10),
    "clock_jump": Setting("Seconds by which the graph's clock may jump.", 0.01, 10),
    "hand_timeout": Setting("Seconds without a state of the hands: HOLDING.", 0.05, 60),
    "overload_time": Setting("Seconds of too much torque or tracking error: HOLDING.", 0, 10),
    "torque": Setting("Share of a motor's effort that its estimated torque may reach.", 0.05, 1),
    "tracking": Setting("rad that a joint may be away from its command.", 0.02, 10),
    "temperature": Setting("deg C that a commanded motor may have.", 30, 120),
    "tick": Setting(
        "Seconds of the robot's tick, by which late states are told; 0: they are not.", 0, 1
    ),
    "execute_rows": Setting("Rows of a chunk after which the next one is due; 0: all.", 0, 50),
    "execution": Setting("Which chunk is followed where some overlap: newest or blended."),
    "stop_buttons": Setting("Buttons of the remote that stop; + joins, a comma separates."),
}
"""Bounds and meaning of each field of a `BridgeConfig`; they are the node's parameters too."""


@dataclass(frozen=True)
class BridgeConfig:
    """What a bridge may do, and how long it waits: see SETTINGS. The defaults are slow and
    cautious. Each watchdog acts at the first tick after its time has passed.

    Errors: RuleSafeError for a number out of its bounds.
    """

    speed: float = 0.1
    hand_speed: float = 1.0
    margin: float = 0.02
    max_jump: float = 0.5
    gravity: float = 1.0
    ramp: float = 3.0
    rate: float = 250.0
    state_timeout: float = 0.05
    chunk_timeout: float = 0.5
    damping_timeout: float = 30.0
    chunk_age: float = 2.0
    stall_timeout: float = 0.1
    clock_jump: float = 0.1
    hand_timeout: float = 0.5
    overload_time: float = 0.2
    torque: float = 0.9
    tracking: float = 0.3
    temperature: float = 80.0
    tick: float = 0.001
    execute_rows: int = 0
    execution: str = "newest"
    stop_buttons: str = "select,L2+B"

    def __post_init__(self) -> None:
        for name, setting in SETTINGS.items():
            value = getattr(self, name)
            if setting.low is None or setting.high is None:
                continue
            if not setting.low <= value <= setting.high:
                raise RuleSafeError(
                    f"{name} of the bridge lies within {setting.low:g} and {setting.high:g}, "
                    f"got {value:g}"
                )
