"""Paths for the arm in joint space and their timing at 10 Hz."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou

from rulesafe_sim.chunks import PERIOD, SECOND
from rulesafe_sim.errors import RuleSafeError

Path = NDArray[np.float64]  # (N, 7) rad, straight lines between the rows
Collides = Callable[[NDArray[np.float64]], bool]

FRAME = PERIOD / SECOND  # s between two actions
RESOLUTION = 0.04  # rad between two checked configurations


class NoPath(RuleSafeError):
    """No collision-free path was found."""


@dataclass(frozen=True)
class Speed:
    """How fast the arm moves: peak joint speed (rad/s) and the shortest ramp (s)."""

    peak: float = 0.9
    ramp: float = 0.3


def straight_is_free(start, goal, collides: Collides, resolution: float = RESOLUTION) -> bool:
    """Whether the straight line between two configurations is free at steps of `resolution`
    rad."""
    count = max(2, int(np.ceil(np.abs(goal - start).max() / resolution)) + 1)
    # The middle first: a blocked line is usually blocked there.
    fractions = sorted(np.linspace(0, 1, count), key=lambda f: abs(f - 0.5))
    return not any(collides(start + f * (goal - start)) for f in fractions)


class PathPlanner:
    """Collision-free paths: the straight line where it is free, else OMPL's RRTConnect.

    The search is bounded by the number of configurations it checks, not by time, and seeded anew
    for each path: the same question has the same answer on any machine.
    """

    def __init__(self, lower, upper, checks: int = 6000, seed: int = 1):
        self.lower, self.upper = np.asarray(lower), np.asarray(upper)
        self.checks = checks
        self.seed = seed
        ou.setLogLevel(ou.LOG_NONE)

    def plan(self, start, goal, collides: Collides) -> Path:
        """A path (N, 7) from start to goal. Errors: NoPath."""
        if straight_is_free(start, goal, collides):
            return np.stack([start, goal])
        return shortcut(self._rrt_connect(start, goal, collides), collides)

    def _rrt_connect(self, start, goal, collides: Collides) -> Path:
        # OMPL warns when a seed is set a second time; the planners made from now on do follow it.
        ou.RNG.setSeed(self.seed)
        space = ob.RealVectorStateSpace(len(start))
        bounds = ob.RealVectorBounds(len(start))
        for i, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            bounds.setLow(i, float(min(low, start[i], goal[i])))
            bounds.setHigh(i, float(max(high, start[i], goal[i])))
        space.setBounds(bounds)
        setup = og.SimpleSetup(space)
        checked = 0

        def valid(state) -> bool:
            nonlocal checked
            checked += 1
            return not collides(np.array([state[i] for i in range(len(start))]))

        setup.setStateValidityChecker(valid)
        info = setup.getSpaceInformation()
        # OMPL takes a fraction of the space's diagonal, which is 11 rad for the arm.
        info.setStateValidityCheckingResolution(RESOLUTION / space.getMaximumExtent())
        first, last = space.allocState(), space.allocState()
        for i in range(len(start)):
            first[i], last[i] = float(start[i]), float(goal[i])
        setup.setStartAndGoalStates(first, last)
        setup.setPlanner(og.RRTConnect(info))
        setup.solve(ob.PlannerTerminationCondition(lambda: checked >= self.checks))
        if not setup.haveExactSolutionPath():
            raise NoPath(f"no collision-free path found in {checked} checked configurations")
        states = setup.getSolutionPath().getStates()
        return np.array([[state[i] for i in range(len(start))] for state in states])


def shortcut(path: Path, collides: Collides, rounds: int = 60, seed: int = 0) -> Path:
    """The path with detours replaced by straight lines where these are free."""
    rng = np.random.default_rng(seed)
    points = list(path)
    for _ in range(rounds):
        if len(points) < 3:
            break
        i, j = sorted(rng.choice(len(points), 2, replace=False))
        if j - i > 1 and straight_is_free(points[i], points[j], collides):
            points[i + 1 : j] = []
    return np.array(points)


def time_path(path: Path, speed: Speed = Speed()) -> Path:
    """Targets (T, 7) at 10 Hz along a path, the first one a frame after its start, with a
    trapezoid speed profile of the fastest joint."""
    lengths = np.abs(np.diff(path, axis=0)).max(axis=1)
    arc = np.concatenate([[0.0], np.cumsum(lengths)])
    total = float(arc[-1])
    if total < 1e-6:
        return path[-1:].copy()
    ramp = speed.ramp
    peak = min(speed.peak, total / ramp)
    duration = total / peak + ramp
    steps = max(1, int(np.ceil(duration / FRAME)))
    time = np.arange(1, steps + 1) / steps * duration
    along = np.where(
        time < ramp,
        0.5 * peak * time**2 / ramp,
        np.where(
            time < duration - ramp,
            peak * (time - ramp / 2),
            total - 0.5 * peak * (duration - time) ** 2 / ramp,
        ),
    )
    return np.stack([np.interp(along, arc, path[:, i]) for i in range(path.shape[1])], axis=1)
