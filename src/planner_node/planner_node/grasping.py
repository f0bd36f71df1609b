"""Where and how the hand takes a part: candidate pinches whose whole motion is within reach."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from planner_node.constraints import AxisConstraint, Goals, PointConstraint
from planner_node.hand import HAND_AXES, PINCH_POINT
from planner_node.kinematics import Arm
from planner_node.solver import Costs, Solution, descend, distinct
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import Transform, Vec3, about_axis, from_parts
from rulesafe_sim.safe import Grasp

STEP = np.radians(5.0)
"""A part's motion is tracked in steps of this size."""

STANDOFFS = (0.07, 0.045)
"""How far (m) the hand stands off a grasp before it closes in, and after it lets go; the shorter
one where the arm cannot take the longer."""

JUMP = 0.6
"""A joint that moves more than this (rad) between two steps has changed its posture."""

BATCH = 6
"""Operations that are worked out before the cheapest of them is offered."""

PartPose = Callable[[float], Transform]
"""Pose of the held part's link in the pelvis frame, given the moved joint's position (rad)."""


class Unreachable(RuleSafeError):
    """No pinch of the part is within the arm's reach for the whole motion."""


@dataclass(frozen=True)
class Freedom:
    """How freely a pinch may stand on a part, rad.

    `rolls` (about the approach) and `tilts` (about the closing axis, on which the tips pivot) are
    choices made once for a pinch. `slack` is what the hand may lag behind the part's motion about
    approach, closing axis and their normal; a pinch uses as small a share of it as serves, since
    the tips slip when they roll.
    """

    rolls: tuple[float, ...]
    tilts: tuple[float, ...]
    slack: Vec3
    anchor: float = 0.5  # where along the motion the hand stands as the pinch was chosen
    lets_go: bool = True  # whether the hand must be able to retreat at the end


BOX = (0.001, 0.001, 0.001)
"""How far (m) the pinch point may lie off the noted point, along approach, closing and normal."""

POSTURE = Costs(posture=0.05, limits=0.3, manipulability=0.02)
"""What is preferred in the posture that takes a part, among those that take it alike."""

HABITUAL = Costs(posture=1.0, limits=0.1, enough=1e-6)
"""The same where a habit names a posture: the pinch's nearest to it, found precisely, so that safes
at nearly the same pose are grasped in nearly the same way."""

RIGID = (0.02, 0.02, 0.02)
SHARES = (0.0, 0.4, 1.0)
"""Shares of the slack that are tried in turn."""

LOOSE = (0.3, 0.4, 0.3)
"""Slack (rad) on the way to a grasp and away from it."""

AT_AXIS = Freedom(rolls=(0.0, -0.2, 0.2), tilts=(0.0, -0.2, 0.2), slack=(0.05, 0.2, 0.14))
"""For a part pinched at its axis: a turn of the hand is a turn of the part."""

OFF_AXIS = Freedom(rolls=(0.0, -0.2, 0.2), tilts=(0.0, -0.2, 0.2), slack=(0.2, 0.2, 0.14))
"""For a part pinched away from its axis: the way of the hand turns it."""

PULLING = Freedom(
    rolls=(0.0, -0.25, 0.25),
    tilts=(0.0, -0.35, 0.35, -0.6, 0.6),
    slack=(0.3, 0.8, 0.2),
    anchor=0.0,
    lets_go=False,
)
"""For a bar that is pulled along the door's arc."""


@dataclass(frozen=True)
class Pinch:
    """A grasp with its choices made.

    `frame_in_part`: where the pinch point shall be in the part's link frame; its columns are
    approach, closing (from index finger to thumb) and their cross product, the normal.
    """

    grasp: Grasp
    sense: int  # +1: the thumb on the closing axis's positive side
    roll: float
    tilt: float
    frame_in_part: Transform

    @property
    def key(self) -> tuple:
        """Tells pinches apart."""
        return self.grasp, self.sense, self.roll, self.tilt


@dataclass(frozen=True)
class Habit:
    """How a part is preferred to be taken.

    `posture` (7,), rad: of the arm halfway through the motion. `pinch`: the number of its grasp
    among those that are offered, its sense, roll and tilt; None: the one whose posture is nearest.
    Bars can be taken at several points, and which of them is nearest flips with a millimetre.
    `only`: by that pinch or not at all.
    """

    posture: tuple[float, ...]
    pinch: tuple[int, int, float, float] | None = None
    only: bool = False


@dataclass(frozen=True)
class Operation:
    """A pinch and the arm's way through it. Rows are arm joints (7,), rad."""

    pinch: Pinch
    approach: NDArray[np.float64]  # (A, 7) from the standoff to the grasp
    motion: NDArray[np.float64]  # (M, 7) from the grasp along the part's motion
    retreat: NDArray[np.float64]  # (R, 7) from the end of the motion to its standoff
    cost: float
    lags: bool  # whether the hand turns less than the part: it slips more easily


def make_pinch(grasp: Grasp, sense: int, roll: float, tilt: float) -> Pinch:
    """The pinch that comes along the grasp's approach, turned about it by `roll` and then about
    the closing axis by `tilt` (rad)."""
    approach, closing = np.asarray(grasp.approach), sense * np.asarray(grasp.closing)
    turn = (about_axis(closing, tilt) @ about_axis(approach, roll))[:3, :3]
    axes = turn @ np.column_stack([approach, closing, np.cross(approach, closing)])
    return Pinch(grasp, sense, roll, tilt, from_parts(axes, grasp.point))


def pinch_goals(frame_in_pelvis: Transform, slack: Vec3) -> Goals:
    """The constraints that put the hand's pinch point and axes onto a pinch's frame.

    `slack` (rad): how far the hand may be turned about approach, closing axis and normal. Each is
    an angle between one axis of the hand and one of the part that are perpendicular without it.
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
class _Reach:
    """How near a search came, for its error message."""

    found: int = 0
    nearest: float = np.inf  # m
    worst: str = ""  # constraints that the nearest posture misses
    followed: float = 0.0  # fraction of the motion


class Grasper:
    """Finds operations: multi-start inverse kinematics over the pinches of a part."""

    def __init__(self, arm: Arm, seed: int = 0, starts: int = 36):
        self.arm = arm
        rng = np.random.default_rng(seed)
        self._starts = rng.uniform(arm.limits.lower, arm.limits.upper, (starts, 7))

    def operations(
        self,
        grasps: Sequence[Grasp],
        freedom: Freedom,
        part_pose: PartPose,
        positions: tuple[float, float],
        now: NDArray[np.float64],
        habit: Habit | None = None,
    ) -> Iterator[Operation]:
        """Operations that move a part from `positions[0]` to `positions[1]` (rad) for an arm now
        at `now` (7,): those nearest to the noted grasp first, among these the cheaper, and those
        in which the hand lags behind the part last. With a `habit`, those with its pinch come
        first, and those whose posture is nearest to its own instead of the cheaper.

        Lazy, since the first is often good enough. Errors: Unreachable at the end, if there is
        none at all.
        """
        anchor = positions[0] + freedom.anchor * (positions[1] - positions[0])
        way = (positions[0], anchor, positions[1])
        reach, lagging = _Reach(), []
        usual = None if habit is None or habit.pinch is None else habit.pinch
        turns = sorted(product(freedom.rolls, freedom.tilts), key=lambda t: abs(t[0]) + abs(t[1]))
        if usual is not None:
            turns.sort(key=lambda turn: turn != usual[2:])
        only = usual is not None and habit is not None and habit.only
        if only:
            turns = turns[:1]
        for roll, tilt in turns:
            pinches = [make_pinch(grasp, s, roll, tilt) for grasp, s in product(grasps, (1, -1))]
            postures = self._postures(pinches, part_pose(anchor), now, reach, habit)
            if usual is not None:
                offered = usual[0] < len(grasps)
                preferred = make_pinch(grasps[usual[0]], *usual[1:]).key if offered else None
                postures.sort(key=lambda each: each[0].key != preferred)
                if only:
                    postures = [each for each in postures if each[0].key == preferred]
            tracked = (
                self._track(pinch, freedom, posture.arm, part_pose, way, now, reach)
                for pinch, posture in postures
            )
            found = (operation for operation in tracked if operation)
            at_once = BATCH if habit is None else 1  # in the order of the postures
            while batch := sorted(islice(found, at_once), key=lambda operation: operation.cost):
                reach.found += len(batch)
                yield from (operation for operation in batch if not operation.lags)
                lagging += [operation for operation in batch if operation.lags]
        yield from lagging
        if not reach.found:
            if reach.nearest > 0:
                why = f"the nearest misses {reach.worst}"
            elif reach.followed < 1:
                why = f"the best follows {100 * reach.followed:.0f} % of the way"
            else:
                why = "those that follow it leave no room to approach or to back off"
            raise Unreachable(
                f"none of {2 * len(grasps) * len(turns)} pinches reaches through the motion: {why}"
            )

    def _postures(
        self, pinches: Sequence[Pinch], part_in_pelvis: Transform, now, reach: _Reach, habit
    ) -> list[tuple[Pinch, Solution]]:
        """Arm postures that take the part, each the best of its kind, the cheapest first."""
        preferred, costs = (now, POSTURE) if habit is None else (np.array(habit.posture), HABITUAL)
        starts = (preferred, *self._starts[: max(8, 2 * len(self._starts) // len(pinches))])
        postures = []
        for pinch in pinches:
            goals = pinch_goals(part_in_pelvis @ pinch.frame_in_part, RIGID)
            found = [descend(self.arm, start, goals) for start in starts]
            nearest = min(found, key=lambda solution: solution.excess)
            if nearest.excess < reach.nearest:
                reach.nearest = nearest.excess
                missed = goals.residuals(self.arm.hand_pose(nearest.arm))
                reach.worst = ", ".join(str(r) for r in missed if r.excess > 0)
            postures += [
                (pinch, descend(self.arm, solution.arm, goals, costs, present=preferred))
                for solution in distinct(found)
            ]
        return sorted(postures, key=lambda each: each[1].cost)

    def _track(self, pinch, freedom, arm_at_anchor, part_pose, way, now, reach):
        """The operation through a solution at the motion's anchor; None where the arm cannot
        follow the motion."""
        first, anchor, last = way
        for share in SHARES:
            slack = tuple(np.maximum(share * np.array(freedom.slack), RIGID))
            back, way_back = self.follow(pinch, part_pose, (anchor, first), slack, arm_at_anchor)
            ahead, way_ahead = self.follow(pinch, part_pose, (anchor, last), slack, arm_at_anchor)
            reach.followed = max(reach.followed, (way_back + way_ahead) / 2)
            if way_back == way_ahead == 1:
                break
        else:
            return None
        motion = np.concatenate([back[::-1], ahead[1:]])
        approach = self.retreat(part_pose(first), pinch, motion[0])
        retreat = self.retreat(part_pose(last), pinch, motion[-1])
        if len(approach) == 1 or (len(retreat) == 1 and freedom.lets_go):
            return None
        limits = self.arm.limits
        worst = max(np.abs(limits.nearness(arm)).max() for arm in (*motion, approach[-1]))
        travel = float(np.abs(approach[-1] - now).max())
        cost = 2.0 * worst + 0.3 * travel + 0.5 * (abs(pinch.roll) + abs(pinch.tilt)) + share
        return Operation(pinch, approach[::-1], motion, retreat, cost, share > 0)

    def retreat(self, part_in_pelvis: Transform, pinch: Pinch, arm) -> NDArray[np.float64]:
        """Arm joints (N, 7) from a grasp straight back to a standoff; (1, 7), where the arm
        stands, if it can take none."""
        back = -np.asarray(pinch.grasp.approach)
        for standoff in STANDOFFS:
            frames = [
                part_in_pelvis @ from_parts(np.eye(3), distance * back) @ pinch.frame_in_part
                for distance in np.linspace(0.0, standoff, 6)[1:]
            ]
            rows, way = self._along(frames, LOOSE, arm)
            if way == 1:
                return np.concatenate([arm[None], rows])
        return arm[None]

    def follow(
        self, pinch: Pinch, part_pose: PartPose, positions: tuple[float, float], slack, arm
    ) -> tuple[NDArray[np.float64], float]:
        """Arm joints (N, 7) with the part held from one position to the other (rad), from an arm
        at `arm` (7,), and the fraction of the way that it can follow without a jump."""
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
