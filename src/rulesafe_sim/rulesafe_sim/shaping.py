"""Dense reward for RuleSafe-v1: a potential of hand, parts and lock, and shaping by it.

Shaping adds F = discount * potential(s') - potential(s) to the reward of a step from s to s', which
leaves the optimal policies unchanged (Ng, Harada and Russell, Policy invariance under reward
transformations, ICML 1999, theorem 1) if the learning algorithm has the same discount. The
potential of an open door is 0, as the theorem requires of a terminal state.
"""

from functools import lru_cache
from math import tanh

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.body import Body
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ALL_JOINTS
from rulesafe_core.robot import h1_2
from rulesafe_core.transforms import apply
from rulesafe_locks.plans import plan_distance
from rulesafe_sim.safe import Safe
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.simulation import Simulation, SimulationState

HAND_FRAME = "R_hand_base_link"
PINCH_POINT = (-0.068, -0.154, -0.0267)
"""Point between thumb and index finger in the frame of the hand, m; as in planner_node."""

REACH = 0.2
"""Distance to a grasp at which the potential of reaching has fallen to 24 %, m."""

WORST = -2.0
"""Potential of a dead end, and lowest potential of any state."""


class PotentialShaping:
    """The shaping term of each step of an episode.

    Args:
        discount: discount factor of the learning algorithm.

    Raises:
        RuleSafeError: the discount is not in 0 to 1.
    """

    def __init__(self, discount: float) -> None:
        if not 0 < discount <= 1:
            raise RuleSafeError(f"discount is {discount:g}; valid: more than 0, at most 1")
        self._discount = discount

    def reset(self, simulation: Simulation) -> None:
        """Start an episode in a simulation that was just reset."""
        self._potential = potential(simulation)

    def term(self, simulation: Simulation) -> float:
        """Return the shaping term F of the step that was just simulated."""
        before, self._potential = self._potential, potential(simulation)
        return self._discount * self._potential - before


def potential(simulation: Simulation) -> float:
    """Return the potential of a state, from WORST to 0.

    It is -(d - p) / d0, with the remaining distance d (events of a shortest plan), that at the
    start, d0, and the progress p of the next event, 0 to 1: half of it is the proximity of the
    pinch point to the nearest grasp of the part, and half the rotation of the part.
    """
    progress = simulation.progress
    distance = plan_distance(simulation.rule, progress.state)
    if distance == 0:
        return 0.0
    if distance is None:
        return WORST
    event, state = progress.remaining[0], simulation.state()
    done = _proximity(simulation.safe, state, event[:-1]) + _rotation(simulation.safe, state, event)
    return max(WORST, -(distance - done / 2) / len(progress.plan))


def _rotation(safe: Safe, state: SimulationState, event: str) -> float:
    """Return the fraction of the rotation of an event, 0 to 1."""
    fraction = state.part_positions[event[:-1]] / safe.parts[event[:-1]].range
    return float(np.clip(fraction if event.endswith("+") else 1 - fraction, 0, 1))


def _proximity(safe: Safe, state: SimulationState, part: str) -> float:
    """Return 1 with the pinch point at a grasp of the part, and less with the distance to it."""
    held, use = ("handle", "pull") if part == "door" else (part, "turn")
    joints = {f"{name}_joint": position for name, position in state.part_positions.items()}
    link = state.pose_safe_in_pelvis @ _body(safe).link_poses(joints)[held]
    grasps = apply(link, [grasp.point for grasp in safe.grasps(held, use)])
    distances = np.linalg.norm(grasps - pinch_point(state), axis=1)
    return 1 - tanh(float(distances.min()) / REACH)


@lru_cache(maxsize=64)
def _body(safe: Safe) -> Body:
    return safe_body(safe)


def pinch_point(state: SimulationState) -> NDArray[np.float64]:
    """Return the pinch point (3,) in the pelvis frame, m."""
    joints = dict(zip(ALL_JOINTS, state.joint_positions.tolist(), strict=True))
    return apply(h1_2().link_poses(joints)[HAND_FRAME], PINCH_POINT)
