"""Settings of the bridge, which are the parameters of its node. The defaults are conservative.

Each watchdog acts at the first tick after its timeout.
"""

from dataclasses import dataclass

from h1_2_bridge.realtime import ProcessParameters
from rulesafe_core.settings import Settings, setting


@dataclass(frozen=True)
class BridgeConfig(Settings):
    """Settings of the bridge's core."""

    speed: float = setting(
        0.1, "Scale of the arm's velocity (9 rad/s) and acceleration (20 rad/s^2).", 0.01, 1
    )
    hand_speed: float = setting(1.0, "Scale of the fingers' velocity (0.5 rad/s).", 0.01, 1)
    margin: float = setting(0.02, "Margin of the arm's joints to their limits.", 0, 0.2, "rad")
    max_jump: float = setting(0.5, "Largest change of a joint per chunk step.", 0.01, 1, "rad")
    gravity: float = setting(1.0, "Scale of the arms' gravity feed-forward torque.", 0, 1)
    ramp: float = setting(3.0, "Time for the weight to ramp from 0 to 1 or back.", 0.2, 30, "s")
    rate: float = setting(250.0, "Rate of commands.", 50, 500, "Hz")
    state_timeout: float = setting(0.05, "Time without a valid state before FAULT.", 0.01, 10, "s")
    chunk_timeout: float = setting(0.5, "Delay of the next chunk before HOLDING.", 0.05, 60, "s")
    damping_timeout: float = setting(30.0, "Time in HOLDING before DAMPING.", 0.1, 3600, "s")
    chunk_age: float = setting(2.0, "Largest age of a chunk's observation.", 0.1, 60, "s")
    chunk_horizon: float = setting(
        10.0, "Longest time from now to the last step of a chunk.", 0.1, 60, "s"
    )
    stall_timeout: float = setting(0.1, "Longest time between two control ticks.", 0.02, 10, "s")
    gap_timeout: float = setting(
        0.15,
        "Longest time between two commands; after a longer one the bridge publishes no more. Must "
        "be below the supervisor's `patience`.",
        0.02,
        10,
        "s",
    )
    supervisor_timeout: float = setting(
        0.5,
        "Time without the supervisor's heartbeat before FAULT (arm_sdk); 0: no supervisor is "
        "required, for simulators only.",
        0,
        10,
        "s",
    )
    clock_jump: float = setting(
        0.1, "Largest tolerated jump of the ROS clock within a second.", 0.01, 10, "s"
    )
    hand_timeout: float = setting(0.5, "Time without a hand state before HOLDING.", 0.05, 60, "s")
    overload_time: float = setting(0.2, "Duration of an overload before HOLDING.", 0, 10, "s")
    torque: float = setting(0.9, "Largest torque as a share of a motor's effort limit.", 0.05, 1)
    tracking: float = setting(0.3, "Largest tracking error of a joint.", 0.02, 10, "rad")
    temperature: float = setting(80.0, "Highest temperature of a motor.", 30, 120, "deg C")
    voltage: float = setting(
        0.0,
        "Lowest supply voltage of the motors; 0: not supervised, as in simulators.",
        0,
        100,
        "V",
    )
    tick: float = setting(
        0.001, "Period of the robot's tick; 0 disables the latency check of states.", 0, 1, "s"
    )
    simulator: bool = setting(
        False,
        "The robot is a simulator whose states have neither tick nor CRC: do not check them. Never "
        "with a real robot.",
    )
    execute_steps: int = setting(0, "Steps of a chunk before the next one is due; 0: all.", 0, 50)
    execution: str = setting("newest", "Execution of overlapping chunks: newest or blended.")
    stop_buttons: str = setting(
        "select,L2+B", "Comma-separated button combinations of the remote that stop the robot."
    )


@dataclass(frozen=True)
class BridgeParameters(ProcessParameters, BridgeConfig):
    """Parameters of the bridge's node."""

    hand: str = setting("dfx", "Driver of the hands: dfx, ftp or none.")
    hand_right_open: str = setting(
        "",
        "Six joint positions of the open right hand, comma-separated; empty: default.",
        unit="rad",
    )
    hand_right_closed: str = setting(
        "",
        "Six joint positions of the closed right hand, comma-separated; empty: default.",
        unit="rad",
    )
    hand_left_open: str = setting(
        "",
        "Six joint positions of the open left hand, comma-separated; empty: default.",
        unit="rad",
    )
    hand_left_closed: str = setting(
        "",
        "Six joint positions of the closed left hand, comma-separated; empty: default.",
        unit="rad",
    )
    hand_right_host: str = setting("192.168.123.211", "Address of the right FTP hand.")
    hand_left_host: str = setting("192.168.123.210", "Address of the left FTP hand; empty: none.")
    hand_identified: str = setting(
        "",
        "Address of the right FTP hand, found with `rulesafe bridge identify`; engaging is refused "
        "unless it is hand_right_host.",
    )
    hand_port: int = setting(6000, "TCP port of FTP hands.", 1, 65535)
    hand_speed_limit: int = setting(300, "Speed limit of FTP hands; 1000: full speed.", 0, 1000)
    hand_force_limit: int = setting(300, "Force limit of FTP hands.", 0, 3000, "g")
    hand_registers: str = setting("", "FTP register addresses to override: angle_set=1486,...")
    output: str = setting("arm_sdk", "Command interface of the body: arm_sdk or lowcmd.")
    dry_run: bool = setting(False, "Publish commands below /bridge/dry_run, not to the robot.")
    autostart: bool = setting(True, "Configure and activate without a lifecycle manager.")
