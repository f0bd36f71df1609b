"""Assisted motions of teleoperation, planned with the state of a simulated safe.

`approach` brings the open hand in front of a part, `grasp` into the pinch, `turn` and `pull` move
the held part by an angle. The operator decides on each of them.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from planner_node.grasping import Operation, Pinch, make_pinch
from planner_node.hand import HAND_AXES, PINCH, PINCH_POINT, PRE_PINCH
from planner_node.moves import ExpertObservation, Move, MoveConfig, MovePlanner
from planner_node.primitives import Pace, Primitives, Run
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import HAND_JOINTS
from rulesafe_core.transforms import Transform, apply, from_parts, inverse
from rulesafe_sim.safe import Grasp, Safe

HELD_WITHIN = 0.04
"""Largest distance of the pinch point from a grasp point of the held part, m."""

CLOSED_ABOVE = 0.5
"""Grip above which the hand counts as closed."""

PINCH_IN_HAND = from_parts(HAND_AXES, PINCH_POINT)
"""Frame of the pinch in the hand's base frame: approach, closing and normal."""


def grip_of(fingers: NDArray[np.float64]) -> float:
    """Return how far the index finger of a hand (6,) is closed: 0 (open for a pinch) to 1."""
    index = HAND_JOINTS.index("R_index_proximal_joint")
    share = (fingers[index] - PRE_PINCH[index]) / (PINCH[index] - PRE_PINCH[index])
    return float(np.clip(share, 0.0, 1.0))


class Assistant:
    """Plans assisted motions for one episode.

    Args:
        safe: the safe.
        pose_safe_in_pelvis: its pose.
        speed: factor of the expert's speeds.
        seed: seed of the planning.
    """

    def __init__(
        self, safe: Safe, pose_safe_in_pelvis: Transform, speed: float = 1.0, seed: int = 0
    ):
        self._safe = safe
        self._moves = MovePlanner(safe, pose_safe_in_pelvis, MoveConfig(), seed)
        self._hand = Primitives(Pace(factor=speed))
        self._operation: Operation | None = None  # of the last approach
        self._held: tuple[Move, Pinch] | None = None  # since the fingers closed
        self._position = 0.0  # commanded position of the moved part, rad

    def release(self) -> None:
        """Forget the held part and its commanded position: the fingers have opened, or a motion
        was interrupted."""
        self._held = None

    def approach(self, obs: ExpertObservation, name: str) -> NDArray[np.float64]:
        """Return joint targets (n, 13) that bring the open hand in front of a part.

        Args:
            obs: observation with the commanded arm and hand.
            name: "knob" or "handle", to turn it, or "door", to pull it by its handle.

        Raises:
            RuleSafeError: the hand is closed, or no pinch or path was found.
        """
        if grip_of(obs.hand) > CLOSED_ABOVE:
            raise RuleSafeError("open the hand first")
        opens = name == "door" or not obs.part_open[name]
        move = self._moves.move(obs, name, opens)
        self._operation, path = self._moves.plan(obs, move, set())
        self._held = None
        return _joint_targets(self._hand.travel(obs, path), obs)

    def grasp(self, obs: ExpertObservation) -> NDArray[np.float64]:
        """Return joint targets (n, 13) from in front of a part into the pinch.

        Raises:
            RuleSafeError: the hand is not where the last approach ended.
        """
        operation = self._operation
        if operation is None or np.abs(operation.approach[0] - obs.arm).max() > 0.1:
            raise RuleSafeError("the hand is not in front of a part: approach one first")
        return _joint_targets(self._hand.approach(operation.approach), obs)

    def turn(self, obs: ExpertObservation, angle: float, door: bool) -> NDArray[np.float64]:
        """Return joint targets (n, 13) that turn the held part, or pull the door by it.

        Args:
            obs: observation with the commanded arm and hand.
            angle: angle of the part, rad; positive opens it.
            door: whether the door moves instead of the held part.

        Raises:
            RuleSafeError: no part is held, or the arm cannot follow the part.
        """
        move, pinch = self._hold(obs, door)
        goal = self._clipped(move, self._position + angle)
        if goal == self._position:
            raise RuleSafeError(f"the {move.part} is at its stop")
        step = replace(move, start=self._position, goal=goal)
        path = self._moves.follow(obs, step, pinch)
        if path is None:
            raise RuleSafeError(
                f"the arm cannot follow the {move.part} any further: release it and approach it "
                "again"
            )
        self._position = goal
        return _joint_targets((self._hand.pull if door else self._hand.turn)(path), obs)

    def _hold(self, obs: ExpertObservation, door: bool) -> tuple[Move, Pinch]:
        """Return the move of the held part and the pinch, as they were at its first motion."""
        if grip_of(obs.hand) < CLOSED_ABOVE:
            raise RuleSafeError("close the hand on a part first")
        if self._held is None or (self._held[0].part == "door") != door:
            grasped = self._nearest(obs)
            part = "door" if door else grasped
            self._position = obs.part_positions[part]
            move = Move(part, grasped, self._position, self._position)
            grasp = self._safe.grasps(grasped, "turn")[0]
            part_pose = self._moves.held_pose(obs, move, self._position)
            hand_pose = self._moves.arm.hand_pose(obs.arm)
            frame = inverse(part_pose) @ hand_pose @ PINCH_IN_HAND
            pinch = replace(make_pinch(grasp, 1, 0.0, 0.0), frame_in_part=frame)
            self._held = move, pinch
        return self._held

    def _nearest(self, obs: ExpertObservation) -> str:
        """Return the part, knob or handle, at which the hand is."""
        tip = apply(self._moves.arm.hand_pose(obs.arm), PINCH_POINT)
        distances = {}
        for part in self._safe.turners:
            pose = self._moves.held_pose(obs, Move(part, part, 0, 0), obs.part_positions[part])
            points = apply(pose, [grasp.point for grasp in self._grasps(part)])
            distances[part] = float(np.linalg.norm(points - tip, axis=1).min())
        part = min(distances, key=distances.__getitem__)
        if distances[part] > HELD_WITHIN:
            raise RuleSafeError(
                f"the hand holds no part: it is {100 * distances[part]:.0f} cm from the {part}"
            )
        return part

    def _grasps(self, part: str) -> tuple[Grasp, ...]:
        """Return all grasps of a part, to turn it and, of some, to pull the door."""
        pulls = self._safe.grasps(part, "pull") if self._safe.door.grasp.link == part else ()
        return self._safe.grasps(part, "turn") + pulls

    def _clipped(self, move: Move, goal: float) -> float:
        """Return a position within the part's range and the margin at its stops, rad."""
        if move.part == "door":
            return float(np.clip(goal, 0.0, self._moves.door_goal))
        margin = self._moves.config.overshoot
        return float(np.clip(goal, -margin, self._safe.parts[move.part].range + margin))


def _joint_targets(run: Run, obs: ExpertObservation) -> NDArray[np.float64]:
    """Return all joint targets (n, 13) of a primitive."""
    still = replace(obs, contact_forces={})
    chunks = [next(run)]
    while True:
        try:
            chunks.append(run.send(still))
        except StopIteration:
            return np.concatenate(chunks)
