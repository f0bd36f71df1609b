"""Planning of single moves: from "move this part" to a pinch and a collision-free path."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planner_node.collision import CollisionWorld
from planner_node.grasping import (
    AT_AXIS,
    BOX,
    OFF_AXIS,
    PULLING,
    Grasper,
    GraspFreedom,
    Habit,
    Operation,
    Pinch,
    Unreachable,
)
from planner_node.hand import PINCH, PINCH_POINT, PRE_PINCH
from planner_node.kinematics import Arm
from planner_node.motion import PLANNERS, NoPath, Path, PathPlanner
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.robot import HOME
from rulesafe_core.settings import Settings, setting
from rulesafe_core.transforms import Transform
from rulesafe_sim.safe import Grasp, Safe
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.stand import stand_shapes


@dataclass(frozen=True)
class ExpertObservation:
    """Observation of the expert at the end of a chunk."""

    arm: NDArray[np.float64]  # (7,) rad
    hand: NDArray[np.float64]  # (6,) rad
    part_positions: Mapping[str, float]  # rad
    part_open: Mapping[str, bool]
    pose_safe_in_pelvis: Transform
    remaining: tuple[str, ...]  # events that still have to happen, such as "knob+", "door+"
    contact_forces: Mapping[str, float] = field(default_factory=dict)  # N, see rulesafe_sim's State


HOME_ARM = np.array([HOME[joint] for joint in ARM_JOINTS])
"""Home posture of the arm (7,), rad. With habits, blocked straight paths are bent towards it, so
that similar moves have similar paths."""

Habits = Mapping[str, Habit]
"""The preferred way to grasp each part, by situation; see habits.py."""


@dataclass(frozen=True)
class MoveConfig(Settings):
    """Margins of a part's motion, and parameters of the search.

    `overshoot` limits the position error with which the hand presses a part against its stop;
    together with the drives' effort limits it bounds the force.
    """

    overshoot: float = setting(0.09, "Angle by which the hand turns past a stop.", unit="rad")
    door_margin: float = setting(
        0.12, "Angle by which the door is pulled past its open threshold.", unit="rad"
    )
    way_out: float = setting(
        0.3, "Joint motion to leave a contact in which an attempt ended.", unit="rad"
    )
    candidates: int = setting(12, "Maximum number of pinches for which a path is planned.")
    planner: str = setting("RRTConnect", f"OMPL planner: {', '.join(PLANNERS)}.")
    habits: Habits = field(default_factory=dict)  # keys: see `situations`; empty: cheapest pinch


@dataclass(frozen=True)
class Move:
    """A motion of a part by the hand, from its position to the commanded one (rad)."""

    part: str
    grasped_part: str  # the part that the hand holds; for the door this is the handle
    start: float
    goal: float


class MovePlanner:
    """Plans single moves of the parts of a safe at a fixed pose. `seconds`: wall time spent on
    planning so far."""

    def __init__(
        self,
        safe: Safe,
        pose_safe_in_pelvis: Transform,
        config: MoveConfig = MoveConfig(),
        seed: int = 0,
    ):
        self.safe = safe
        self.config = config
        self.seconds = 0.0
        self.arm = Arm()
        self._body = safe_body(safe)
        self._grasper = Grasper(self.arm, seed)
        limits = self.arm.limits
        self._paths = PathPlanner(limits.lower, limits.upper, seed=seed + 1, planner=config.planner)
        self._world = CollisionWorld(self._body, stand_shapes(self._body, pose_safe_in_pelvis))

    def move(self, obs: ExpertObservation, part: str, opens: bool) -> Move:
        """Return the move that brings a part into its open or its closed phase."""
        data, start = self.safe.parts[part], obs.part_positions[part]
        if part == "door":
            return Move(part, "handle", start, self.door_goal)
        overshoot = self.config.overshoot
        return Move(part, part, start, data.range + overshoot if opens else -overshoot)

    def grasps(self, move: Move) -> tuple[Grasp, ...]:
        """Return the grasps by which the held part can be moved."""
        return self.safe.grasps(move.grasped_part, "pull" if move.part == "door" else "turn")

    @property
    def door_goal(self) -> float:
        """Door position to which the hand pulls (rad): `door_margin` past the open threshold."""
        door = self.safe.door
        return door.open_above * door.range + self.config.door_margin

    def plan(self, obs: ExpertObservation, move: Move, tried: set[tuple]) -> tuple[Operation, Path]:
        """Return the first operation with a collision-free path to it, and that path (N, 7).

        Operations whose pinch is among the `tried` are skipped.

        Raises:
            Unreachable: if no pinch is within reach.
            NoPath: if no pinch has a collision-free path.
        """
        with self.timed():
            blocked: Counter[tuple[str, str]] = Counter()
            count = 0
            for operation in self._free(obs, move, tried, blocked):
                count += 1
                try:
                    path = self.path(obs, operation.approach[0])
                except NoPath as error:
                    blocked += error.blocked
                    if count == self.config.candidates:
                        break
                    continue
                return operation, path
            raise NoPath(
                f"{count} reachable pinches of the {move.grasped_part} are free of collisions, but "
                "none has a collision-free path to it",
                blocked,
            )

    def reaches(self, obs: ExpertObservation, move: Move) -> bool:
        """Return whether some pinch is within reach and collision-free during the complete move.

        The path to the pinch is not checked.
        """
        with self.timed():
            if self._too_far(obs, move):
                return False
            try:
                return any(True for _ in self.operations(obs, move, ordered=False))
            except Unreachable:
                return False

    def path(
        self,
        obs: ExpertObservation,
        goal: NDArray[np.float64],
        hand: NDArray[np.float64] = PRE_PINCH,
    ) -> Path:
        """Return a collision-free path (N, 7) from the arm's position, the fingers at `hand` (6,).
        Raises NoPath."""
        with self.timed():
            return self._path(obs, goal, hand)

    def _path(self, obs: ExpertObservation, goal: NDArray[np.float64], hand: NDArray) -> Path:
        self._world.set_safe(obs.pose_safe_in_pelvis, obs.part_positions)
        self._world.permit()
        # An attempt may end in contact; the first part of the path may keep this contact.
        touching = self._world.contacts(obs.arm, hand)

        def contacts(arm: NDArray[np.float64]) -> set[tuple[str, str]]:
            if not self._world.collides(arm, hand):
                return set()
            found = self._world.contacts(arm, hand)
            near = np.abs(arm - obs.arm).max() < self.config.way_out
            return found - touching if near else found

        return self._paths.plan(obs.arm, goal, contacts, HOME_ARM if self.config.habits else None)

    def follow(
        self, obs: ExpertObservation, move: Move, pinch: Pinch
    ) -> NDArray[np.float64] | None:
        """Return arm joints (N, 7) that move the held part with its present pinch.

        None if the arm cannot follow the motion or would collide.
        """
        with self.timed():
            slack = freedom_of(move, self.safe.grasps(move.grasped_part, "turn")).slack
            rows, fraction = self._grasper.follow(
                pinch,
                lambda position: self.held_pose(obs, move, position),
                (move.start, move.goal),
                slack,
                obs.arm,
            )
            return rows if fraction == 1 and not self._contacts_along(rows, obs, move) else None

    def retreat(self, obs: ExpertObservation, move: Move, pinch: Pinch) -> NDArray[np.float64]:
        """Return arm joints (N, 7) straight back from the part that the hand has released."""
        with self.timed():
            position = obs.part_positions[move.part]
            return self._grasper.retreat(self.held_pose(obs, move, position), pinch, obs.arm)

    def _free(
        self,
        obs: ExpertObservation,
        move: Move,
        tried: set[tuple],
        blocked: Counter,
        ordered: bool = True,
    ) -> Iterator[Operation]:
        """Yield collision-free operations not in `tried`, and count the contacts of the others in
        `blocked`. Raises Unreachable."""
        grasps = self.grasps(move)
        for operation in self._grasper.operations(
            grasps,
            freedom_of(move, grasps),
            lambda position: self.held_pose(obs, move, position),
            (move.start, move.goal),
            obs.arm,
            self._habit(obs, move),
            ordered,
        ):
            if operation.pinch.key not in tried:
                contacts = self._contacts_of(operation, obs, move)
                blocked.update(contacts)
                if not contacts:
                    yield operation

    def _too_far(self, obs: ExpertObservation, move: Move) -> bool:
        """Return whether all grasp points are beyond the arm's maximum reach. This check avoids a
        grasp search that would fail only after about a second."""
        pose = self.held_pose(obs, move, move.start)
        longest = self.arm.longest_reach(PINCH_POINT) + np.linalg.norm(BOX)
        points = [pose[:3, :3] @ grasp.point + pose[:3, 3] for grasp in self.grasps(move)]
        return all(self.arm.shoulder_distance(point) > longest for point in points)

    def _habit(self, obs: ExpertObservation, move: Move) -> Habit | None:
        keys = situations(self.safe, obs, move)
        return next((self.config.habits[key] for key in keys if key in self.config.habits), None)

    def operations(
        self, obs: ExpertObservation, move: Move, ordered: bool = True
    ) -> Iterator[Operation]:
        """Yield collision-free operations, the best first if `ordered`. Raises Unreachable."""
        return self._free(obs, move, set(), Counter(), ordered)

    def held_pose(self, obs: ExpertObservation, move: Move, position: float) -> Transform:
        """Return the pose of the held part's link in the pelvis frame with the moved part at
        `position` (rad)."""
        joints = {f"{name}_joint": value for name, value in obs.part_positions.items()}
        links = self._body.link_poses(joints | {f"{move.part}_joint": position})
        return obs.pose_safe_in_pelvis @ links[move.grasped_part]

    def _contacts_of(self, operation: Operation, obs: ExpertObservation, move: Move):
        """Return pairs of links that would touch during an operation; only closed fingers may touch
        the held part."""
        first, last = self._ends(move)
        return (
            self._contacts_at(operation.approach, first, obs, move)
            or self._contacts_along(operation.motion, obs, move)
            or (
                set()
                if move.part == "door"
                else self._contacts_at(operation.retreat, last, obs, move)
            )
        )

    def _ends(self, move: Move) -> tuple[float, float]:
        """Return the positions (rad) between which the moved part itself moves."""
        first, last = np.clip((move.start, move.goal), 0.0, self.safe.parts[move.part].range)
        return float(first), float(last)

    def _contacts_along(self, motion: Path, obs: ExpertObservation, move: Move):
        """Return contacts of the closed hand during a part's motion, checked at five positions."""
        first, last = self._ends(move)
        for i in np.unique(np.linspace(0, len(motion) - 1, 5).astype(int)):
            position = first + (last - first) * i / max(1, len(motion) - 1)
            contacts = self._contacts_at(motion[i : i + 1], position, obs, move, PINCH)
            if contacts:
                return contacts
        return set()

    def _contacts_at(
        self, rows: Path, position: float, obs: ExpertObservation, move: Move, hand=PRE_PINCH
    ) -> set[tuple[str, str]]:
        """Return the first contacts along arm joints (N, 7) with the moved part at a position."""
        parts = {**obs.part_positions, move.part: position}
        self._world.set_safe(obs.pose_safe_in_pelvis, parts)
        self._world.permit(holding=move.grasped_part if hand is PINCH else None)
        return next((c for c in (self._world.contacts(arm, hand) for arm in rows) if c), set())

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Add the wall time of the block to `seconds`; nested blocks are counted once."""
        begin, before = time.perf_counter(), self.seconds
        try:
            yield
        finally:
            self.seconds = before + time.perf_counter() - begin


def situations(safe: Safe, obs: ExpertObservation, move: Move) -> tuple[str, str]:
    """Return the keys of a move's habit, such as "safe_03 knob+" or "safe_04 door+ handle-open".

    A key has the safe and the event; for the door also the phase of the handle by which it is
    pulled. The second key has the side of the hinge instead of the safe, for safes without habits.
    """
    event = move.part + ("+" if move.goal > move.start else "-")
    if move.grasped_part != move.part:
        event += f" {move.grasped_part}-{'open' if obs.part_open[move.grasped_part] else 'closed'}"
    return f"{safe.id} {event}", f"{safe.hinge} {event}"


def freedom_of(move: Move, grasps: Sequence[Grasp]) -> GraspFreedom:
    """Return the freedom of a pinch: for a pull, a turn at the axis, or a turn away from it."""
    if move.part == "door":
        return PULLING
    off_axis = max((float(np.hypot(*grasp.point[1:])) for grasp in grasps), default=0.0)
    return OFF_AXIS if off_axis > 0.02 else AT_AXIS
