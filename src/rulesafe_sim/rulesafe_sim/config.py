"""Settings of the simulation, with their units and the source of each figure."""

from dataclasses import dataclass
from math import pi

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS, HAND_JOINTS
from rulesafe_core.settings import required
from rulesafe_core.transforms import Vec3


@dataclass(frozen=True)
class DriveGains:
    """A position drive: stiffness N m/rad, damping N m s/rad, effort limit N m, armature kg m^2."""

    stiffness: float
    damping: float
    effort: float
    armature: float = 0.0


@dataclass(frozen=True)
class PhysicsConfig:
    """Rates and contact settings.

    The step, iterations, friction and drives are those with which a pinch turns a knob by
    friction alone; effort limits of the arm are the manufacturer's (the drive takes the smaller
    of these and the URDF's).
    """

    timestep: float = 0.005  # s
    control_hz: int = 100
    frame_hz: int = 10
    position_iterations: int = 15
    friction: float = 1.0
    arm: DriveGains = DriveGains(1000.0, 100.0, 40.0)
    hand: DriveGains = DriveGains(5.0, 0.2, 0.8, 0.001)
    lock_play: float = 0.02  # rad a locked part can still move

    def __post_init__(self) -> None:
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
    """Where a safe stands: the door's centre in the pelvis frame (m) and its yaw from facing the
    robot squarely (rad)."""

    xyz: Vec3 = required(unit="m")
    yaw: float = required(-pi, pi, "rad")


@dataclass(frozen=True)
class SimulationConfig:
    physics: PhysicsConfig = PhysicsConfig()
    split: str = "nominal"  # what a seed varies: a name in SPLITS or the path of a YAML file
    robot_urdf: str = ""  # a user's own URDF with meshes; empty: the project's primitives
