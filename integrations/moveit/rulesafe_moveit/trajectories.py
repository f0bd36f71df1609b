"""Trajectories of the action FollowJointTrajectory: validation, interpolation and tolerances.

Messages are any objects with the fields of their types; this module does not import ROS.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, wrong_names
from rulesafe_core.messages import to_ns
from rulesafe_core.settings import Settings, setting

AHEAD = 60 * SECOND
"""Largest time (ns) by which the stamp of a trajectory may be ahead."""

AT_REST = 1e-6
"""Largest velocity at the end of a trajectory, rad/s."""


class ErrorCode(IntEnum):
    """Error codes of control_msgs/action/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class GoalError(RuleSafeError):
    """A goal that is refused or aborted, with its error code."""

    def __init__(self, code: ErrorCode, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class TrajectoryParameters(Settings):
    """Parameters of trajectory_node."""

    allow_partial_joints_goal: bool = setting(
        False,
        "Accept trajectories of some of the 13 joints; the others hold their measured positions.",
    )
    path_tolerance: float = setting(
        0.0, "Default tolerance of positions during a trajectory; 0: none.", 0, 3, "rad"
    )
    goal_tolerance: float = setting(
        0.1, "Default tolerance of positions at the end; 0: none.", 0, 3, "rad"
    )
    goal_time_tolerance: float = setting(
        5.0, "Default time after the end to reach the goal; 0: unlimited.", 0, 600, "s"
    )
    state_timeout: float = setting(
        1.0, "Wall time without joint states after which a goal is aborted.", 0.1, 60, "s"
    )


@dataclass(frozen=True)
class JointPath:
    """Positions of the 13 joints over time.

    `times`: ns, increasing. `positions`, `velocities`: of ACTION_JOINTS, rad and rad/s. Cubic
    between the points with velocities, linear without.
    """

    times: NDArray[np.int64]  # (n,)
    positions: NDArray[np.float64]  # (n, 13)
    velocities: NDArray[np.float64] | None = None  # (n, 13)

    @property
    def begin(self) -> int:
        """Time of the first point, ns."""
        return int(self.times[0])

    @property
    def end(self) -> int:
        """Time of the last point, ns."""
        return int(self.times[-1])

    def sample(self, time: int) -> NDArray[np.float64]:
        """Return positions and velocities (2, 13) at a time (ns); at rest outside the path."""
        i = int(np.searchsorted(self.times, time, side="right"))
        if i in (0, len(self.times)):
            return np.stack([self.positions[max(i - 1, 0)], np.zeros(len(ACTION_JOINTS))])
        duration = int(self.times[i] - self.times[i - 1]) / SECOND
        s = int(time - self.times[i - 1]) / SECOND / duration
        start, end = self.positions[i - 1 : i + 1]
        u = v = end - start
        if self.velocities is not None:
            u, v = self.velocities[i - 1 : i + 1] * duration
        cubic, square = 2 * (start - end) + u + v, 3 * (end - start) - 2 * u - v
        position = start + s * (u + s * (square + s * cubic))
        return np.stack([position, (u + s * (2 * square + 3 * s * cubic)) / duration])


def decode_trajectory(
    message: Any, now: int, measured: NDArray[np.float64], partial: bool = False
) -> JointPath:
    """Return the path of a trajectory_msgs/JointTrajectory, which begins now at the measured
    posture.

    Args:
        message: the trajectory; the stamp 0 is now.
        now: current time, ns.
        measured: positions of ACTION_JOINTS (13,), rad.
        partial: whether joints may be missing, which stay at their measured positions.

    Raises:
        GoalError: the trajectory is invalid, has ended, or begins too late.
    """
    columns = _columns(list(message.joint_names), partial)
    if not message.points:
        raise GoalError(ErrorCode.INVALID_GOAL, "the trajectory has no points")
    positions = _values(message, "positions", len(columns))
    moving = any(len(point.velocities) for point in message.points)
    velocities = _values(message, "velocities", len(columns)) if moving else None
    if velocities is not None and np.abs(velocities[-1]).max() > AT_REST:
        raise GoalError(ErrorCode.INVALID_GOAL, "the velocity of the last point must be 0")
    offsets = np.array([to_ns(point.time_from_start) for point in message.points], np.int64)
    if offsets[0] < 0 or (np.diff(offsets) <= 0).any():
        raise GoalError(
            ErrorCode.INVALID_GOAL,
            "time_from_start of the points must not be negative and must increase",
        )
    stamp = to_ns(message.header.stamp)
    times = (stamp or now) + offsets
    if stamp and times[-1] <= now:
        raise GoalError(
            ErrorCode.OLD_HEADER_TIMESTAMP,
            f"the trajectory ended {(now - int(times[-1])) / SECOND:.2f} s ago",
        )
    if stamp > now + AHEAD:
        raise GoalError(
            ErrorCode.INVALID_GOAL,
            f"the trajectory begins {(stamp - now) / SECOND:.0f} s from now, the limit is "
            f"{AHEAD // SECOND} s: does its sender follow the same clock (use_sim_time)?",
        )
    times[-1] = max(times[-1], now + PERIOD)  # a single point at time 0: as fast as possible
    ahead = times > now

    path = np.tile(measured, (1 + int(ahead.sum()), 1))
    path[1:, columns] = positions[ahead]
    rates = np.zeros_like(path)
    if velocities is not None:
        rates[1:, columns] = velocities[ahead]
    return JointPath(np.r_[now, times[ahead]], path, rates if moving else None)


def _columns(names: list[str], partial: bool) -> list[int]:
    if wrong := wrong_names(names, () if partial and names else ACTION_JOINTS):
        allowed = "some of " if partial else ""
        raise GoalError(
            ErrorCode.INVALID_JOINTS,
            f"a trajectory must name {allowed}the 13 joints {', '.join(ACTION_JOINTS)}; {wrong}",
        )
    return [ACTION_JOINTS.index(name) for name in names]


def _values(message: Any, field: str, count: int) -> NDArray[np.float64]:
    """Return a field of all points (n, count)."""
    rows = [getattr(point, field) for point in message.points]
    for i, row in enumerate(rows):
        if len(row) != count:
            raise GoalError(
                ErrorCode.INVALID_GOAL,
                f"point {i} has {len(row)} {field}, but the trajectory has {count} joints",
            )
        if not np.isfinite(row).all():
            raise GoalError(ErrorCode.INVALID_GOAL, f"point {i} has {field} that are not finite")
    return np.array(rows, np.float64)


@dataclass(frozen=True)
class Tolerances:
    """Tolerances of a goal: largest errors (2, 13) of position (rad) and velocity (rad/s) on the
    path and at the end, and the time after the end to reach the goal (s); infinite: none."""

    path: NDArray[np.float64]
    goal: NDArray[np.float64]
    goal_time: float


def decode_tolerances(goal: Any, defaults: TrajectoryParameters) -> Tolerances:
    """Return the tolerances of a FollowJointTrajectory goal. Those of accelerations are ignored,
    since accelerations are not measured.

    Raises:
        GoalError: a joint is unknown, or a value is neither positive, 0 (default) nor -1 (none).
    """
    time = to_ns(goal.goal_time_tolerance) / SECOND or defaults.goal_time_tolerance
    return Tolerances(
        _limits(goal.path_tolerance, defaults.path_tolerance),
        _limits(goal.goal_tolerance, defaults.goal_tolerance),
        time if time > 0 else np.inf,
    )


def _limits(entries: Iterable[Any], default: float) -> NDArray[np.float64]:
    limits = np.full((2, len(ACTION_JOINTS)), np.inf)
    limits[0] = default or np.inf
    for entry in entries:
        if entry.name not in ACTION_JOINTS:
            raise GoalError(
                ErrorCode.INVALID_JOINTS, f"a tolerance names the unknown joint {entry.name!r}"
            )
        for row, value in enumerate((entry.position, entry.velocity)):
            if not (value >= 0 or value == -1):
                raise GoalError(
                    ErrorCode.INVALID_GOAL,
                    f"a tolerance of {entry.name} is {value:g}; valid: above 0, 0 (default) or -1 "
                    "(none)",
                )
            if value:
                limits[row, ACTION_JOINTS.index(entry.name)] = value if value > 0 else np.inf
    return limits


def exceeded(error: NDArray[np.float64], limits: NDArray[np.float64]) -> str:
    """Return which joint has an error (2, 13) beyond its tolerance; empty if none has."""
    wrong = np.argwhere(np.abs(error) > limits)
    if not len(wrong):
        return ""
    row, joint = wrong[0]
    unit = ("rad", "rad/s")[row]
    return (
        f"{ACTION_JOINTS[joint]} differs by {abs(error[row, joint]):.3f} {unit} from the "
        f"trajectory, the tolerance is {limits[row, joint]:g} {unit}"
    )
