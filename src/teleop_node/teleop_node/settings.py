"""Parameters of the teleoperation node."""

from dataclasses import dataclass

from rulesafe_core.settings import Settings, setting


@dataclass(frozen=True)
class TeleopParameters(Settings):
    """Parameters of the teleoperation node."""

    linear_speed: float = setting(
        0.15, "Largest speed of the pinch point towards its target.", 0.01, 0.5, "m/s"
    )
    angular_speed: float = setting(
        0.8, "Largest angular speed of the hand towards its target.", 0.05, 2, "rad/s"
    )
    joint_speed: float = setting(1.4, "Largest speed of a joint of the arm.", 0.1, 3, "rad/s")
    input_timeout: float = setting(
        0.5, "Wall time without input after which the arm holds its position.", 0.1, 10, "s"
    )
    max_distance: float = setting(
        0.3, "Largest distance of a target from the hand; a farther one is ignored.", 0.02, 1, "m"
    )
    max_rotation: float = setting(
        1.0, "Largest rotation from the hand to a target; a larger one is ignored.", 0.1, 3.2, "rad"
    )
    max_lag: float = setting(
        0.25,
        "Largest lag of an arm joint behind its target: a target that would increase it is held "
        "back, since the arm is blocked.",
        0.05,
        1,
        "rad",
    )
    workspace_low: tuple[float, float, float] = setting(
        (0.1, -0.9, -0.4),
        "Lower corner of the box, in the frame pelvis, in which the pinch point may move.",
        -2,
        2,
        "m",
    )
    workspace_high: tuple[float, float, float] = setting(
        (0.95, 0.3, 0.8), "Upper corner of the box.", -2, 2, "m"
    )
    force_limit: float = setting(
        60.0, "Contact force on the safe that stops an assisted motion.", 1, 500, "N"
    )
    assist_speed: float = setting(0.7, "Factor of the expert's speeds.", 0.1, 1.5)
    state_timeout: float = setting(
        1.0,
        "Wall time without joint states after which the state is reported as waiting; chunks are "
        "sent only when joint states arrive.",
        0.1,
        60,
        "s",
    )
    idle_chunks: bool = setting(
        True,
        "Publish chunks also while the arm holds its target, as a robot requires; false: a "
        "simulation that waits for actions stops its clock meanwhile.",
    )
    seed: int = setting(0, "Seed of the planning of assisted motions.", 0, 2**31 - 1)
