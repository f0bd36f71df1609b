"""Settings of the simulation."""

from dataclasses import dataclass
from math import pi

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS, HAND_JOINTS
from rulesafe_core.settings import Settings, required, setting
from rulesafe_core.transforms import Vec3


@dataclass(frozen=True)
class DriveGains(Settings):
    """Gains and effort limit of a position drive."""

    stiffness: float = required(unit="N m/rad")
    damping: float = required(unit="N m s/rad")
    effort: float = required(unit="N m")
    armature: float = setting(0.0, unit="kg m^2")


@dataclass(frozen=True)
class PhysicsConfig(Settings):
    """Rates and contact settings.

    The time step, iterations, friction and drive gains are chosen so that a pinch grasp turns a
    knob by friction only. The effort limit of a drive is the smaller of that given here and that
    of the URDF.
    """

    timestep: float = setting(0.005, "Time step of the physics.", above=0, unit="s")
    control_hz: int = setting(100, "Control steps per second.", 1, unit="Hz")
    frame_hz: int = setting(10, "Frames (observations and actions) per second.", 1, unit="Hz")
    position_iterations: int = setting(15, "Position iterations of the contact solver.")
    friction: float = setting(1.0, "Coefficient of friction.")
    arm: DriveGains = DriveGains(1000.0, 100.0, 40.0)
    hand: DriveGains = DriveGains(5.0, 0.2, 0.8, 0.001)
    weightless: bool = setting(
        True, "Simulate the robot without gravity, as with ideal gravity compensation."
    )
    lock_play: float = setting(0.02, "Range in which a locked part can still move.", unit="rad")

    def __post_init__(self) -> None:
        super().__post_init__()
        steps = 1 / (self.timestep * self.control_hz)
        if abs(steps - round(steps)) > 1e-6 or self.control_hz % self.frame_hz:
            raise RuleSafeError(
                "control_hz must divide 1 / timestep, and frame_hz must divide control_hz; got "
                f"timestep {self.timestep} s, {self.control_hz} Hz, {self.frame_hz} Hz"
            )

    @property
    def substeps(self) -> int:
        """Physics steps per control step."""
        return round(1 / (self.timestep * self.control_hz))

    @property
    def controls_per_frame(self) -> int:
        return self.control_hz // self.frame_hz

    @property
    def gains(self) -> dict[str, DriveGains]:
        return dict.fromkeys(ARM_JOINTS, self.arm) | dict.fromkeys(HAND_JOINTS, self.hand)


@dataclass(frozen=True)
class Placement:
    """Pose of a safe: the door's centre in the pelvis frame (m), and its yaw (rad), which is 0 if
    the door faces the robot."""

    xyz: Vec3 = required(unit="m")
    yaw: float = required(-pi, pi, "rad")


@dataclass(frozen=True)
class SimulationConfig(Settings):
    """Settings of a simulation."""

    physics: PhysicsConfig = PhysicsConfig()
    split: str = setting(
        "nominal", "Split (name or YAML file) from which scene variations are sampled."
    )
    robot_urdf: str = setting("", "URDF of the robot with meshes; empty: the built-in primitives.")
