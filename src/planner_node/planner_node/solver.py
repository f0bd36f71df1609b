"""Postures of the arm that meet goals: one call, `solve(arm, state, goals, limits, costs)`.

The state is where the arm stands, the goals are hard constraints on the hand (constraints.py), the
limits are the joints', the costs say which of the postures that meet the goals is liked best.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import daqp
import numpy as np
from numpy.typing import NDArray

from planner_node.constraints import Goals, Residual
from planner_node.kinematics import Arm, PositionLimits
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import Transform

REACH = 0.3
"""The largest step of a joint (rad) in one iteration."""

IMPROVEMENTS = 12
"""Steps at most that better a posture which meets the goals."""

PRICE = 50.0
"""What one metre outside of the tolerances costs while searching: more than any wish gains."""

SOFT = 8
"""DAQP's mark of a constraint that gives way, at a price, where the linear problem has none."""


@dataclass(frozen=True)
class Costs:
    """Weights of what is liked in a posture, beside the goals.

    `posture`: nearness to the present posture, (rad^2)^-1; `limits`: distance from the joint
    limits, by the squared nearness; `manipulability`: Yoshikawa's measure sqrt(det(J J^T)), as its
    negative logarithm. The search for a better posture ends with a step that gains less than
    `enough`.
    """

    posture: float = 0.0
    limits: float = 0.0
    manipulability: float = 0.0
    enough: float = 1e-3

    @property
    def any(self) -> bool:
        return bool(self.posture or self.limits or self.manipulability)


NEAREST = Costs()
"""No wishes: the first posture found that meets the goals, by the shortest steps from the start."""


@dataclass(frozen=True)
class Solution:
    """A posture and how well it meets the goals: arm joints (7,), rad."""

    arm: NDArray[np.float64]
    excess: float  # m, outside of the tolerances in all (angles at ANGLE_SCALE); 0: goals met
    cost: float

    @property
    def feasible(self) -> bool:
        return self.excess == 0.0


@dataclass(frozen=True)
class Posture:
    """What `solve` found: the arm (7,) in rad, the hand's pose, the residual of each goal."""

    arm: NDArray[np.float64]
    pose_hand_in_pelvis: Transform
    residuals: tuple[Residual, ...]
    cost: float


class Infeasible(RuleSafeError):
    """No posture meets all goals. `residuals`: those of the nearest posture found."""

    def __init__(self, residuals: tuple[Residual, ...], starts: int):
        self.residuals = residuals
        violated = sorted((r for r in residuals if r.excess > 0), key=lambda r: -r.size)
        super().__init__(
            f"no arm posture meets the constraints; the nearest of {starts} tries misses "
            + ", ".join(map(str, violated))
        )


@dataclass(frozen=True)
class _Model:
    """The problem near a posture: goals linearised, costs to second order."""

    joints: NDArray[np.float64]
    values: NDArray[np.float64]
    rows: NDArray[np.float64]
    excess: float
    cost: float
    gradient: NDArray[np.float64]
    curvature: NDArray[np.float64]

    @property
    def merit(self) -> float:
        return self.cost + PRICE * self.excess

    def step(self, goals: Goals, limits: PositionLimits, reach: float) -> NDArray[np.float64]:
        """The best step (7,) of at most `reach` (rad) for each joint, within the limits."""
        low = np.maximum(limits.lower - self.joints, -reach)
        high = np.minimum(limits.upper - self.joints, reach)
        sense = np.zeros(len(low) + len(self.values), np.int32)
        sense[len(low) :] = SOFT
        step, _, status, _ = daqp.solve(
            np.diag(self.curvature),
            self.gradient,
            self.rows,
            np.concatenate([high, goals.high - self.values]),
            np.concatenate([low, goals.low - self.values]),
            sense,
        )
        return step if status > 0 else np.zeros_like(low)  # 0 on numerical trouble: it ends there


def descend(
    arm: Arm,
    start: NDArray[np.float64],
    goals: Goals,
    costs: Costs = NEAREST,
    *,
    present: NDArray[np.float64] | None = None,
    limits: PositionLimits | None = None,
    iterations: int = 40,
) -> Solution:
    """One local search from `start` (7,): sequential quadratic programming with analytic
    Jacobians and a trust region.

    Every step minimises the costs' quadratic model subject to the linearised goals and the joint
    limits. Goals that the linear problem cannot meet give way; joint limits never do. `present`
    (7,): the posture to stay near to, the start if not given.
    """
    limits = arm.limits.within(limits)
    joints = limits.clip(start)
    present = joints if present is None else present
    found = _meet(arm, joints, present, goals, limits, iterations)
    if found.excess == 0.0 and costs.any:
        found = _improve(arm, found.joints, present, goals, limits, costs)
    return Solution(found.joints, found.excess, found.cost)


def _meet(
    arm: Arm, joints, present, goals: Goals, limits: PositionLimits, iterations: int
) -> _Model:
    """Down to postures that meet the goals, or as near as it gets. Steps that lead away are
    taken too: they often lead round a bend."""
    best = here = _model(arm, joints, present, limits, goals, NEAREST)
    stalled = 0
    for _ in range(iterations):
        if best.excess == 0.0 or stalled > 5:
            break
        joints = limits.clip(here.joints + here.step(goals, limits, REACH))
        here = _model(arm, joints, present, limits, goals, NEAREST)
        stalled = 0 if here.excess < 0.98 * best.excess else stalled + 1
        best = min(best, here, key=lambda model: model.excess)
    return best


def _improve(
    arm: Arm, joints, present, goals: Goals, limits: PositionLimits, costs: Costs
) -> _Model:
    """From a posture that meets the goals to the cheapest near it, by trust region."""
    best = here = _model(arm, joints, present, limits, goals, costs)
    reach = REACH / 3
    for _ in range(IMPROVEMENTS):
        joints = limits.clip(here.joints + here.step(goals, limits, reach))
        there = _model(arm, joints, present, limits, goals, costs)
        gain = here.merit - there.merit
        if gain <= 0:
            reach *= 0.3
            if reach < 1e-3:
                break
            continue
        here, reach = there, min(REACH, 2 * reach)
        if here.excess == 0.0 and here.cost < best.cost:
            best = here
        if gain < costs.enough:
            break
    return best


def _model(arm: Arm, joints, present, limits: PositionLimits, goals: Goals, costs: Costs) -> _Model:
    pose, jacobian = arm.differentiate(joints)
    values, rows = goals.rows(pose, jacobian)
    cost, gradient, curvature = _cost(arm, joints, present, limits, costs)
    return _Model(joints, values, rows, goals.excess(values), cost, gradient, curvature)


def _cost(arm: Arm, joints, present, limits: PositionLimits, costs: Costs):
    """Value, gradient (7,) and positive diagonal curvature (7,) of the costs."""
    if not costs.any:
        return 0.0, np.zeros(len(joints)), np.ones(len(joints))
    away = joints - present
    near = limits.nearness(joints)
    per_rad = 2 / (limits.upper - limits.lower)
    cost = 0.5 * costs.posture * away @ away + 0.5 * costs.limits * near @ near
    gradient = costs.posture * away + costs.limits * near * per_rad
    curvature = 0.02 + costs.posture + costs.limits * per_rad**2
    if costs.manipulability:
        measure, slope = arm.manipulability(joints)
        cost -= costs.manipulability * np.log(max(measure, 1e-12))
        gradient = gradient - costs.manipulability * slope
        curvature = curvature + costs.manipulability
    return float(cost), gradient, np.broadcast_to(curvature, joints.shape)


def distinct(found: Iterable[Solution], apart: float = 0.3, most: int = 4) -> list[Solution]:
    """Those that meet the goals, at most `most`, each with a joint `apart` (rad) from the
    others'."""
    kept: list[Solution] = []
    for solution in found:
        if solution.feasible and all(
            np.abs(solution.arm - other.arm).max() > apart for other in kept
        ):
            kept.append(solution)
    return kept[:most]


def starts(
    limits: PositionLimits, state: NDArray[np.float64], count: int, seed: int
) -> Iterator[NDArray]:
    """The present posture, then `count - 1` others spread evenly at random within the limits."""
    yield limits.clip(state)
    rng = np.random.default_rng(seed)
    for _ in range(count - 1):
        yield rng.uniform(limits.lower, limits.upper)


def solve(
    arm: Arm,
    state: NDArray[np.float64],
    goals: Goals,
    limits: PositionLimits | None = None,
    costs: Costs = Costs(posture=0.1, limits=0.2, manipulability=0.05),
    *,
    tries: int = 24,
    seed: int = 0,
) -> Posture:
    """The cheapest of the postures found from several starts that meet all goals.

    Args:
        state: (7,) rad, where the arm stands.
        limits: within the arm's own, which hold in any case.
        tries: local searches; the first starts at `state`.

    Errors: Infeasible, naming the constraints that the nearest posture misses and by how much.
    """
    limits = arm.limits.within(limits)
    found = [descend(arm, s, goals, limits=limits) for s in starts(limits, state, tries, seed)]
    better = [
        descend(arm, solution.arm, goals, costs, present=state, limits=limits)
        for solution in distinct(found)
    ]
    best = min(better or found, key=lambda s: s.cost if better else s.excess)
    pose = arm.hand_pose(best.arm)
    residuals = goals.residuals(pose)
    if not best.feasible:
        raise Infeasible(residuals, tries)
    return Posture(best.arm, pose, residuals, best.cost)
