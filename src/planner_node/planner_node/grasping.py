"""Grasps of a part: candidate pinches whose complete motion is within reach."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from planner_node.constraints import AxisConstraint, Goals, PointConstraint
from planner_node.hand import HAND_AXES, PINCH_POINT
from planner_node.inverse_kinematics import Costs, Solution, descend, distinct
from planner_node.kinematics import Arm
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import Transform, Vec3, about_axis, from_parts
from rulesafe_sim.safe import Grasp

STEP = np.radians(5.0)
"""Step size (rad) in which the arm follows the motion of a part."""

STANDOFFS = (0.07, 0.045)
"""Distances (m) from a grasp at which the approach begins and the retreat ends; the second is used
where the arm cannot reach the first."""

JUMP = 0.6
"""Largest change (rad) of a joint between two steps; a larger one means another arm posture."""

STARTS = 36
"""Number of random postures from which a search for grasps starts."""

BATCH = 6
"""Number of grasps with arm paths that are computed before the cheapest of them is returned."""

PartPose = Callable[[float], Transform]
"""Pose of the held part's link in the pelvis frame, given the moved joint's position (rad)."""


class Unreachable(RuleSafeError):
    """No pinch of the part is within the arm's reach during the complete motion."""


@dataclass(frozen=True)
class GraspFreedom:
    """Allowed rotations of the hand relative to the pinched part, rad.

    `rolls` (about the approach) and `tilts` (about the closing axis, on which the tips pivot) are
    chosen once for each pinch. `slack` is how far the hand may lag behind the part's motion about
    approach, closing axis and their normal. A pinch uses the smallest sufficient fraction of it,
    since the tips slip when they roll.
    """

    rolls: tuple[float, ...]
    tilts: tuple[float, ...]
    slack: Vec3
    anchor: float = 0.5  # fraction of the motion at which the posture of a pinch is chosen
    retreats: bool = True  # whether the hand must be able to retreat at the end


BOX = (0.001, 0.001, 0.001)
"""Tolerance (m) of the pinch point along approach, closing axis and normal."""

POSTURE = Costs(posture=0.05, limits=0.3, manipulability=0.02)
"""Costs by which the posture for a grasp is chosen among those that meet its constraints."""

HABITUAL = Costs(posture=1.0, limits=0.1, enough=1e-6)
"""Costs of postures in expert mode `habitual`. The high posture weight and the tight stopping
tolerance (`enough`) give the posture nearest to the preferred one, so that safes at similar poses
are grasped in a similar way."""

RIGID = (0.02, 0.02, 0.02)
SHARES = (0.0, 0.4, 1.0)
"""Fractions of the slack, tried in this order."""

LOOSE = (0.3, 0.4, 0.3)
"""Slack (rad) during the approach to a grasp and the retreat from it."""

AT_AXIS = GraspFreedom(rolls=(0.0, -0.2, 0.2), tilts=(0.0, -0.2, 0.2), slack=(0.05, 0.2, 0.14))
"""Rotations for a part that is pinched at its axis: hand and part rotate by the same angle."""

OFF_AXIS = GraspFreedom(rolls=(0.0, -0.2, 0.2), tilts=(0.0, -0.2, 0.2), slack=(0.2, 0.2, 0.14))
"""Rotations for a part that is pinched away from its axis: the path of the hand rotates it."""

PULLING = GraspFreedom(
    rolls=(0.0, -0.25, 0.25),
    tilts=(0.0, -0.35, 0.35, -0.6, 0.6),
    slack=(0.3, 0.8, 0.2),
    anchor=0.0,
    retreats=False,
)
"""Rotations for a bar that is pulled along the door's arc."""


@dataclass(frozen=True)
class Pinch:
    """A grasp with its sense, roll and tilt.

    `frame_in_part`: target frame of the pinch point in the part's link frame; its columns are
    approach, closing (from index finger to thumb) and their cross product, the normal.
    """

    grasp: Grasp
    sense: int  # +1: the thumb is on the positive side of the closing axis
    roll: float
    tilt: float
    frame_in_part: Transform

    @property
    def key(self) -> tuple:
        """Values that identify a pinch."""
        return self.grasp, self.sense, self.roll, self.tilt


@dataclass(frozen=True)
class Habit:
    """The preferred way to grasp a part.

    `posture` (7,), rad: of the arm halfway through the motion. `pinch`: index among the part's
    grasps, sense, roll and tilt; with None the pinch with the nearest posture is chosen. Bars can
    be grasped at several points, and which of them is nearest can change with a millimetre.
    `only`: whether other pinches are excluded.
    """

    posture: tuple[float, ...]
    pinch: tuple[int, int, float, float] | None = None
    only: bool = False


@dataclass(frozen=True)
class Operation:
    """A pinch and the arm's path through it; each row is the arm's joint positions (7,), rad."""

    pinch: Pinch
    approach: NDArray[np.float64]  # (A, 7) from the standoff to the grasp
    motion: NDArray[np.float64]  # (M, 7) from the grasp along the part's motion
    retreat: NDArray[np.float64]  # (R, 7) from the end of the motion to its standoff
    cost: float
    lags: bool  # whether the hand rotates less than the part, which makes slipping more likely


def make_pinch(grasp: Grasp, sense: int, roll: float, tilt: float) -> Pinch:
    """Return a pinch whose approach is the grasp's, rotated about the approach by `roll` and then
    about the closing axis by `tilt` (rad)."""
    approach, closing = np.asarray(grasp.approach), sense * np.asarray(grasp.closing)
    turn = (about_axis(closing, tilt) @ about_axis(approach, roll))[:3, :3]
    axes = turn @ np.column_stack([approach, closing, np.cross(approach, closing)])
    return Pinch(grasp, sense, roll, tilt, from_parts(axes, grasp.point))


def pinch_goals(frame_in_pelvis: Transform, slack: Vec3) -> Goals:
    """Return the constraints that align the hand's pinch point and axes with a pinch's frame.

    `slack` (rad): how far the hand may be rotated about approach, closing axis and normal. Each is
    expressed as the angle between an axis of the hand and one of the part, nominally perpendicular.
    """
    approach, closing, normal = frame_in_pelvis[:3, :3].T
    hand_approach, hand_closing = HAND_AXES[:, 0], HAND_AXES[:, 1]
    about_approach, about_closing, about_normal = slack
    point = PointConstraint(
        "pinch point", PINCH_POINT, frame_in_pelvis[:3, 3], BOX, frame_in_pelvis[:3, :3]
    )
    return Goals(
        [point],
        [
            AxisConstraint("roll", hand_closing, normal, about_approach, "perpendicular"),
            AxisConstraint("tilt", hand_approach, normal, about_closing, "perpendicular"),
            AxisConstraint("yaw", hand_approach, closing, about_normal, "perpendicular"),
            AxisConstraint("approach", hand_approach, approach, np.pi / 3),
            AxisConstraint("closing", hand_closing, closing, np.pi / 3),
        ],
    )


@dataclass
class _SearchResult:
    """Best results of a search, for its error message."""

    found: int = 0
    nearest: float = np.inf  # m
    worst: str = ""  # constraints that the nearest posture violates
    followed: float = 0.0  # largest fraction of the motion that the arm can follow


class Grasper:
    """Finds operations by multi-start inverse kinematics over the pinches of a part."""

    def __init__(self, arm: Arm, seed: int = 0):
        self.arm = arm
        rng = np.random.default_rng(seed)
        self._starts = rng.uniform(arm.limits.lower, arm.limits.upper, (STARTS, 7))

    def operations(
        self,
        grasps: Sequence[Grasp],
        freedom: GraspFreedom,
        part_pose: PartPose,
        positions: tuple[float, float],
        now: NDArray[np.float64],
        habit: Habit | None = None,
        ordered: bool = True,
    ) -> Iterator[Operation]:
        """Yield operations that move a part between two positions.

        Pinches nearest to the nominal grasp are yielded first, among these the cheapest, and
        operations in which the hand lags behind the part last. With a `habit`, operations with its
        pinch come first, then those whose posture is nearest to the habit's. Operations are
        computed on demand, since the first is often good enough.

        Args:
            positions: start and end of the moved joint, rad.
            now: present joint positions (7,) of the arm, rad.
            ordered: False: yield the same operations in the order in which they are found, the
                first much sooner.

        Raises:
            Unreachable: at the end, if there is no operation.
        """
        anchor = positions[0] + freedom.anchor * (positions[1] - positions[0])
        waypoints = (positions[0], anchor, positions[1])
        search, lagging = _SearchResult(), []
        usual = None if habit is None else habit.pinch
        turns = sorted(
            product(freedom.rolls, freedom.tilts),
            key=lambda turn: (usual is not None and turn != usual[2:], abs(turn[0]) + abs(turn[1])),
        )
        groups = [
            [make_pinch(grasp, s, *turn) for grasp, s in product(grasps, (1, -1))] for turn in turns
        ]
        if habit is not None and usual is not None:
            key = (grasps[usual[0]], *usual[1:]) if usual[0] < len(grasps) else None
            nearest, *further = groups
            first = [pinch for pinch in nearest if pinch.key == key]
            others = [pinch for pinch in nearest if pinch.key != key]
            groups = [first] if habit.only else [first, others, *further]
        if not ordered:
            groups = [[pinch] for pinches in groups for pinch in pinches]
        starts = self._starts[: max(8, len(self._starts) // len(grasps))]
        for pinches in groups:
            postures = self._postures(pinches, part_pose(anchor), now, starts, search, habit)
            tracked = (
                self._track(pinch, freedom, posture.arm, part_pose, waypoints, now, search)
                for pinch, posture in postures
            )
            found = (operation for operation in tracked if operation)
            # 1 keeps the order of the postures.
            batch_size = BATCH if habit is None and ordered else 1
            while batch := sorted(islice(found, batch_size), key=lambda operation: operation.cost):
                search.found += len(batch)
                for operation in batch:
                    if operation.lags and ordered:
                        lagging.append(operation)
                    else:
                        yield operation
        yield from lagging
        if not search.found:
            count = sum(map(len, groups))
            if not count:
                why = "the part does not offer the habit's"
            elif search.nearest > 0:
                why = f"the nearest posture violates {search.worst}"
            elif search.followed < 1:
                why = f"the best one follows {100 * search.followed:.0f} % of the motion"
            else:
                why = "those that follow the motion leave no room to approach or retreat"
            raise Unreachable(f"none of {count} pinches is reachable during the motion: {why}")

    def _postures(
        self,
        pinches: Sequence[Pinch],
        part_in_pelvis: Transform,
        now,
        starts: NDArray[np.float64],
        search: _SearchResult,
        habit,
    ) -> list[tuple[Pinch, Solution]]:
        """Return arm postures that grasp the part, without near duplicates, the cheapest first."""
        preferred, costs = (now, POSTURE) if habit is None else (np.array(habit.posture), HABITUAL)
        postures = []
        for pinch in pinches:
            goals = pinch_goals(part_in_pelvis @ pinch.frame_in_part, RIGID)
            found, nearest = distinct(
                descend(self.arm, start, goals) for start in (preferred, *starts)
            )
            if nearest.excess < search.nearest:
                search.nearest = nearest.excess
                missed = goals.residuals(self.arm.hand_pose(nearest.arm))
                search.worst = ", ".join(str(r) for r in missed if r.excess > 0)
            postures += [
                (pinch, descend(self.arm, solution.arm, goals, costs, present=preferred))
                for solution in found
            ]
        return sorted(postures, key=lambda each: each[1].cost)

    def _track(self, pinch, freedom, arm_at_anchor, part_pose, waypoints, now, search):
        """Return the operation through a posture at the motion's anchor, or None if the arm cannot
        follow the motion."""
        first, anchor, last = waypoints
        for share in SHARES:
            slack = tuple(np.maximum(share * np.array(freedom.slack), RIGID))
            back, share_back = self.follow(pinch, part_pose, (anchor, first), slack, arm_at_anchor)
            ahead, share_ahead = self.follow(pinch, part_pose, (anchor, last), slack, arm_at_anchor)
            search.followed = max(search.followed, (share_back + share_ahead) / 2)
            if share_back == share_ahead == 1:
                break
        else:
            return None
        motion = np.concatenate([back[::-1], ahead[1:]])
        approach = self.retreat(part_pose(first), pinch, motion[0])
        retreat = self.retreat(part_pose(last), pinch, motion[-1])
        if len(approach) == 1 or (len(retreat) == 1 and freedom.retreats):
            return None
        limits = self.arm.limits
        worst = max(np.abs(limits.nearness(arm)).max() for arm in (*motion, approach[-1]))
        travel = float(np.abs(approach[-1] - now).max())
        cost = 2.0 * worst + 0.3 * travel + 0.5 * (abs(pinch.roll) + abs(pinch.tilt)) + share
        return Operation(pinch, approach[::-1], motion, retreat, cost, share > 0)

    def retreat(self, part_in_pelvis: Transform, pinch: Pinch, arm) -> NDArray[np.float64]:
        """Return arm joints (N, 7) from a grasp straight back to a standoff; (1, 7), the present
        posture, if the arm cannot reach any standoff."""
        back = -np.asarray(pinch.grasp.approach)
        for standoff in STANDOFFS:
            frames = [
                part_in_pelvis @ from_parts(np.eye(3), distance * back) @ pinch.frame_in_part
                for distance in np.linspace(0.0, standoff, 6)[1:]
            ]
            rows, fraction = self._along(frames, LOOSE, arm)
            if fraction == 1:
                return np.concatenate([arm[None], rows])
        return arm[None]

    def follow(
        self, pinch: Pinch, part_pose: PartPose, positions: tuple[float, float], slack, arm
    ) -> tuple[NDArray[np.float64], float]:
        """Follow the held part from one position to another (rad), starting at `arm` (7,).

        Returns:
            Arm joints (N, 7), and the fraction of the motion that the arm follows without a jump.
        """
        steps = max(2, int(np.ceil(abs(positions[1] - positions[0]) / STEP)) + 1)
        frames = [part_pose(p) @ pinch.frame_in_part for p in np.linspace(*positions, steps)]
        return self._along(frames, slack, arm)

    def _along(self, frames: Sequence[Transform], slack, arm):
        rows = []
        for frame in frames:
            solution = descend(self.arm, arm, pinch_goals(frame, slack))
            if not solution.feasible or np.abs(solution.arm - arm).max() > JUMP:
                break
            arm = solution.arm
            rows.append(arm)
        return np.reshape(rows, (-1, 7)), len(rows) / len(frames)
