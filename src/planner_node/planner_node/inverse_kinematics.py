"""Inverse kinematics: arm postures that meet goals, `solve(arm, state, goals, limits, costs)`.

The state is the arm's present posture. The goals are hard constraints on the hand (constraints.py).
The limits are joint limits. The costs rank the postures that meet the goals.
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

MAX_STEP = 0.3
"""Largest step of a joint (rad) in one iteration."""

MAX_IMPROVEMENTS = 12
"""Maximum number of iterations that reduce the costs once a posture satisfies the goals."""

APART = 0.3
"""Smallest difference (rad), in at least one joint, between postures that count as different."""

PENALTY = 50.0
"""Penalty per metre outside of the tolerances during a search; it outweighs all costs."""

SOFT = 8
"""DAQP's flag of a soft constraint, which is relaxed if the linear problem has no solution."""


@dataclass(frozen=True)
class Costs:
    """Weights of the costs that rank postures which meet the goals.

    `posture`: squared distance from the present posture, (rad^2)^-1; `limits`: squared nearness to
    the joint limits; `manipulability`: negative logarithm of Yoshikawa's measure sqrt(det(J J^T)).
    The search for a better posture ends with a step that reduces the costs by less than `enough`.
    """

    posture: float = 0.0
    limits: float = 0.0
    manipulability: float = 0.0
    enough: float = 1e-3

    @property
    def any(self) -> bool:
        return bool(self.posture or self.limits or self.manipulability)


NEAREST = Costs()
"""No costs: the first posture found that meets the goals, by the shortest steps from the start."""


@dataclass(frozen=True)
class Solution:
    """Arm joints (7,), rad, and how well they meet the goals."""

    arm: NDArray[np.float64]
    excess: float  # m, sum of what exceeds the tolerances (angles at ANGLE_SCALE); 0: goals met
    cost: float

    @property
    def feasible(self) -> bool:
        return self.excess == 0.0


@dataclass(frozen=True)
class Posture:
    """Result of `solve`: the arm (7,) in rad, the hand's pose, the residual of each goal."""

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
            f"no arm posture meets the constraints; the nearest of {starts} attempts violates "
            + ", ".join(map(str, violated))
        )


@dataclass(frozen=True)
class _Model:
    """Local model at a posture: linearised goals and quadratic costs."""

    joints: NDArray[np.float64]
    values: NDArray[np.float64]
    rows: NDArray[np.float64]
    excess: float
    cost: float
    gradient: NDArray[np.float64]
    curvature: NDArray[np.float64]

    @property
    def merit(self) -> float:
        return self.cost + PENALTY * self.excess

    def step(self, goals: Goals, limits: PositionLimits, reach: float) -> NDArray[np.float64]:
        """Return the best step (7,) within the limits, at most `reach` (rad) for each joint."""
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
        return step if status > 0 else np.zeros_like(low)  # numerical failure: no step


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
    """Search locally from `start` (7,): sequential quadratic programming with analytic Jacobians
    and a trust region.

    Each step minimises the costs' quadratic model subject to the linearised goals and the joint
    limits. Goals that the linear problem cannot meet are relaxed; joint limits never are. `present`
    (7,): the posture to stay near, by default the start.
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
    """Descend to a posture that meets the goals, or as near as possible. Steps that increase the
    excess are accepted too, since they often lead to a better posture."""
    best = here = _model(arm, joints, present, limits, goals, NEAREST)
    stalled = 0
    for _ in range(iterations):
        if best.excess == 0.0 or stalled > 5:
            break
        joints = limits.clip(here.joints + here.step(goals, limits, MAX_STEP))
        here = _model(arm, joints, present, limits, goals, NEAREST)
        stalled = 0 if here.excess < 0.98 * best.excess else stalled + 1
        best = min(best, here, key=lambda model: model.excess)
    return best


def _improve(
    arm: Arm, joints, present, goals: Goals, limits: PositionLimits, costs: Costs
) -> _Model:
    """Minimise the costs by a trust-region method, from a posture that satisfies the goals."""
    best = here = _model(arm, joints, present, limits, goals, costs)
    reach = MAX_STEP / 3
    for _ in range(MAX_IMPROVEMENTS):
        joints = limits.clip(here.joints + here.step(goals, limits, reach))
        there = _model(arm, joints, present, limits, goals, costs)
        gain = here.merit - there.merit
        if gain <= 0:
            reach *= 0.3
            if reach < 1e-3:
                break
            continue
        here, reach = there, min(MAX_STEP, 2 * reach)
        if here.excess == 0.0 and here.cost < best.cost:
            best = here
        if gain < costs.enough:
            break
    return best


def _model(arm: Arm, joints, present, limits: PositionLimits, goals: Goals, costs: Costs) -> _Model:
    pose, jacobian = arm.differentiate(joints)
    values, rows = goals.linearise(pose, jacobian)
    cost, gradient, curvature = _cost(arm, joints, present, limits, costs)
    return _Model(joints, values, rows, goals.excess(values), cost, gradient, curvature)


def _cost(arm: Arm, joints, present, limits: PositionLimits, costs: Costs):
    """Return the value, gradient (7,) and positive diagonal curvature (7,) of the costs."""
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


def distinct(solutions: Iterable[Solution], most: int = 4) -> tuple[list[Solution], Solution]:
    """Return at most `most` of the solutions that meet the goals, each with at least one joint
    APART from every other one, and the solution that is nearest to the goals.

    Of an iterator, no more solutions are taken than necessary.
    """
    kept: list[Solution] = []
    nearest: Solution | None = None
    for solution in solutions:
        if nearest is None or solution.excess < nearest.excess:
            nearest = solution
        if solution.feasible and all(
            np.abs(solution.arm - other.arm).max() > APART for other in kept
        ):
            kept.append(solution)
            if len(kept) == most:
                break
    if nearest is None:
        raise ValueError("no solutions")
    return kept, nearest


def starts(
    limits: PositionLimits, state: NDArray[np.float64], count: int, seed: int
) -> Iterator[NDArray]:
    """Yield the present posture, then `count - 1` uniformly random ones within the limits."""
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
    """Return the cheapest of the postures, found from several starts, that meet all goals.

    Args:
        state: present arm joints (7,), rad.
        limits: position limits in addition to those of the arm.
        tries: number of local searches; the first starts at `state`.

    Raises:
        Infeasible: no posture was found; the error has the constraints that the nearest posture
            violates, and by how much.
    """
    limits = arm.limits.within(limits)
    found, nearest = distinct(
        descend(arm, s, goals, limits=limits) for s in starts(limits, state, tries, seed)
    )
    better = [
        descend(arm, solution.arm, goals, costs, present=state, limits=limits) for solution in found
    ]
    best = min(better, key=lambda solution: solution.cost, default=nearest)
    pose = arm.hand_pose(best.arm)
    residuals = goals.residuals(pose)
    if not best.feasible:
        raise Infeasible(residuals, tries)
    return Posture(best.arm, pose, residuals, best.cost)
