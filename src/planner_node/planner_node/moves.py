"""From "move this part" to the pinch and the free way that do it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner_node.collision import CollisionWorld
from planner_node.grasping import AT_AXIS, OFF_AXIS, PULLING, Freedom, Grasper, Operation
from planner_node.hand import PINCH, PRE_PINCH
from planner_node.kinematics import Arm
from planner_node.motion import NoPath, Path, PathPlanner
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.safes import Grasp, Safe
from rulesafe_sim.stand import stand_shapes
from rulesafe_sim.transforms import Transform


@dataclass(frozen=True)
class Observation:
    """What the expert looks at, at the end of a chunk."""

    arm: NDArray[np.float64]  # (7,) rad
    hand: NDArray[np.float64]  # (6,) rad
    part_positions: Mapping[str, float]  # rad
    part_open: Mapping[str, bool]
    pose_safe_in_pelvis: Transform
    remaining: tuple[str, ...]  # events that open the door from here, such as "knob+", "door+"


@dataclass(frozen=True)
class MoveConfig:
    """Margins of a part's motion, and how long to search."""

    overshoot: float = 0.09  # rad the hand turns past a stop, for the pinch's compliance
    door_margin: float = 0.12  # rad the door is pulled past its open threshold
    way_out: float = 0.3  # rad the arm may move in touch with what a try ended in touch with
    candidates: int = 12  # free operations without a path to them before giving up


@dataclass(frozen=True)
class Move:
    """A part's motion by the hand: from where it stands to where the hand steers for (rad)."""

    part: str
    held: str  # the part that the hand holds: the handle for the door
    start: float
    goal: float


class MovePlanner:
    """Plans single moves of a safe's parts, with the safe where it stands."""

    def __init__(
        self,
        safe: Safe,
        pose_safe_in_pelvis: Transform,
        config: MoveConfig = MoveConfig(),
        seed: int = 0,
    ):
        self.safe = safe
        self.config = config
        self._body = safe_body(safe)
        arm = Arm()
        self._grasper = Grasper(arm, seed)
        self._paths = PathPlanner(arm.lower, arm.upper, seed=seed + 1)
        self._world = CollisionWorld(self._body, stand_shapes(self._body, pose_safe_in_pelvis))

    def move(self, seen: Observation, part: str, opens: bool) -> Move:
        """The move that brings a part into its open or its closed phase."""
        data, start = self.safe.parts[part], seen.part_positions[part]
        if part == "door":
            goal = data.open_above * data.range + self.config.door_margin
            return Move(part, "handle", start, goal)
        overshoot = self.config.overshoot
        return Move(part, part, start, data.range + overshoot if opens else -overshoot)

    def plan(self, seen: Observation, move: Move, tried: set[tuple]) -> tuple[Operation, Path]:
        """The first operation not yet `tried` (which it joins) that has a free path to it, and
        that path (N, 7). Errors: Unreachable, NoPath."""
        grasps = self.safe.grasps(move.held, "pull" if move.part == "door" else "turn")
        blocked: set[tuple[str, str]] = set()
        reachable = free = 0
        for operation in self._grasper.operations(
            grasps,
            freedom_of(move, grasps),
            lambda position: self._held_pose(seen, move, position),
            (move.start, move.goal),
            seen.arm,
        ):
            if operation.pinch.key in tried:
                continue
            reachable += 1
            contacts = self._contacts_of(operation, seen, move)
            if contacts:
                blocked |= contacts
                continue
            free += 1
            try:
                path = self._path_to(operation.approach[0], seen)
            except NoPath:
                if free == self.config.candidates:
                    break
                continue
            tried.add(operation.pinch.key)
            return operation, path
        names = ", ".join(f"{a} against {b}" for a, b in sorted(blocked)[:6])
        raise NoPath(
            f"{reachable} reachable pinches of the {move.held}, {free} of them free at the grasp, "
            f"none with a free way to it; in the way: {names or 'only the way to it'}"
        )

    def _held_pose(self, seen: Observation, move: Move, position: float) -> Transform:
        """Pose of the held part's link in the pelvis frame, the moved part at `position`."""
        joints = {f"{name}_joint": value for name, value in seen.part_positions.items()}
        links = self._body.link_poses(joints | {f"{move.part}_joint": position})
        return seen.pose_safe_in_pelvis @ links[move.held]

    def _contacts_of(self, operation: Operation, seen: Observation, move: Move):
        """Pairs of links that would touch on the way through an operation, the part moving along;
        only closed fingers may touch the held part."""
        first, last = np.clip((move.start, move.goal), 0.0, self.safe.parts[move.part].range)
        motion = operation.motion
        steps = np.unique(np.linspace(0, len(motion) - 1, 5).astype(int))
        checks = [(arm, PRE_PINCH, first) for arm in operation.approach]
        checks += [
            (motion[i], PINCH, first + (last - first) * i / (len(motion) - 1)) for i in steps
        ]
        if move.part != "door":
            checks += [(arm, PRE_PINCH, last) for arm in operation.retreat]
        for arm, hand, position in checks:
            parts = {**seen.part_positions, move.part: float(position)}
            self._world.set_safe(seen.pose_safe_in_pelvis, parts)
            self._world.permit(holding=move.held if hand is PINCH else None)
            contacts = self._world.contacts(arm, hand)
            if contacts:
                return contacts
        return set()

    def _path_to(self, goal: NDArray[np.float64], seen: Observation) -> Path:
        self._world.set_safe(seen.pose_safe_in_pelvis, seen.part_positions)
        self._world.permit()
        # Where a try ended in touch with something, the way out may begin in touch with it.
        touching = self._world.contacts(seen.arm, PRE_PINCH)

        def collides(arm) -> bool:
            if not touching:
                return self._world.collides(arm, PRE_PINCH)
            contacts = self._world.contacts(arm, PRE_PINCH)
            near = np.abs(arm - seen.arm).max() < self.config.way_out
            return bool(contacts - touching if near else contacts)

        return self._paths.plan(seen.arm, goal, collides)


def freedom_of(move: Move, grasps: Sequence[Grasp]) -> Freedom:
    """How freely a pinch may stand in a move: a pull, a turn at the axis, or one beside it."""
    if move.part == "door":
        return PULLING
    off_axis = max(np.hypot(*grasp.point[1:]) for grasp in grasps)
    return OFF_AXIS if off_axis > 0.02 else AT_AXIS
