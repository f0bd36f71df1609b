"""Paths for the arm in joint space, free of collisions, and their timing at 10 Hz."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import toppra
from numpy.typing import NDArray
from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou
from toppra import algorithm, constraint

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError, unknown_name

Path = NDArray[np.float64]  # (N, 7) rad, straight lines between the rows
Contacts = Callable[[NDArray[np.float64]], Iterable[tuple[str, str]]]
"""The pairs of links that touch at a configuration, by name; empty where it is free."""

FRAME = PERIOD / SECOND  # s between two actions
RESOLUTION = 0.04  # rad between two checked configurations
STEP = 0.8
"""How far (rad) a tree of the planners grows at once."""

SPACING = 0.1
"""rad between the points through which a path's spline goes: corners are rounded within that."""

PLANNERS = ("RRTConnect", "BKPIECE1", "LBKPIECE1", "KPIECE1", "BITstar")
"""OMPL's geometric planners that can be chosen by name."""

toppra.setup_logging("ERROR")  # it warns at every grid that it refines


class NoPath(RuleSafeError):
    """No collision-free path was found. `blocked`: how often each pair of links was in the way."""

    def __init__(self, message: str, blocked: Counter[tuple[str, str]] | None = None):
        self.blocked = blocked or Counter()
        named = ", ".join(f"{a} against {b}" for (a, b), _ in self.blocked.most_common(4))
        super().__init__(f"{message}; in the way: {named}" if named else message)


@dataclass(frozen=True)
class Rates:
    """How fast the arm moves: the largest speed (rad/s) and acceleration (rad/s^2) of any joint."""

    velocity: float
    acceleration: float

    def scaled(self, factor: float) -> "Rates":
        """The same motion, `factor` times as fast."""
        return Rates(self.velocity * factor, self.acceleration * factor**2)


class Checker:
    """Remembers what was in the way, for the error message."""

    def __init__(self, contacts: Contacts):
        self._contacts = contacts
        self.checked = 0
        self.blocked: Counter[tuple[str, str]] = Counter()

    def collides(self, arm: NDArray[np.float64]) -> bool:
        self.checked += 1
        pairs = tuple(self._contacts(arm))
        self.blocked.update(pairs)
        return bool(pairs)

    def straight_is_free(self, start, goal, resolution: float = RESOLUTION) -> bool:
        """Whether the straight line between two configurations is free at steps of `resolution`
        rad."""
        count = max(2, int(np.ceil(np.abs(goal - start).max() / resolution)) + 1)
        # The middle first: a blocked line is usually blocked there.
        fractions = sorted(np.linspace(0, 1, count), key=lambda f: abs(f - 0.5))
        return not any(self.collides(start + f * (goal - start)) for f in fractions)


class PathPlanner:
    """Collision-free paths: the straight line where it is free, else one of OMPL's planners.

    The search is bounded by the number of configurations it checks, not by time, and seeded anew
    for each path: the same question has the same answer on any machine.
    """

    def __init__(
        self, lower, upper, checks: int = 6000, seed: int = 1, planner: str = "RRTConnect"
    ):
        if planner not in PLANNERS:
            raise unknown_name("motion planner", planner, PLANNERS)
        self.lower, self.upper = np.asarray(lower), np.asarray(upper)
        self.checks = checks
        self.seed = seed
        self.planner = planner
        ou.setLogLevel(ou.LOG_NONE)

    def plan(self, start, goal, contacts: Contacts) -> Path:
        """A path (N, 7) from start to goal. Errors: NoPath, naming what is in the way."""
        checker = Checker(contacts)
        for end, arm in (("start", start), ("goal", goal)):
            if checker.collides(arm):
                raise NoPath(f"the {end} of the path is not free", checker.blocked)
        if checker.straight_is_free(start, goal):
            return np.stack([start, goal])
        return _rounded(shortcut(self._search(start, goal, checker), checker), checker)

    def _search(self, start, goal, checker: Checker) -> Path:
        # OMPL warns when a seed is set a second time; the planners made from now on do follow it.
        ou.RNG.setSeed(self.seed)
        space = ob.RealVectorStateSpace(len(start))
        bounds = ob.RealVectorBounds(len(start))
        for i, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            bounds.setLow(i, float(min(low, start[i], goal[i])))
            bounds.setHigh(i, float(max(high, start[i], goal[i])))
        space.setBounds(bounds)
        setup = og.SimpleSetup(space)
        setup.setStateValidityChecker(
            lambda state: not checker.collides(np.array([state[i] for i in range(len(start))]))
        )
        info = setup.getSpaceInformation()
        # OMPL takes a fraction of the space's diagonal, which is 11 rad for the arm.
        info.setStateValidityCheckingResolution(RESOLUTION / space.getMaximumExtent())
        first, last = space.allocState(), space.allocState()
        for i in range(len(start)):
            first[i], last[i] = float(start[i]), float(goal[i])
        setup.setStartAndGoalStates(first, last)
        planner = getattr(og, self.planner)(info)
        if hasattr(planner, "setRange"):
            planner.setRange(STEP)  # OMPL's own choice, a fifth of the diagonal, is too long
        setup.setPlanner(planner)
        setup.solve(ob.PlannerTerminationCondition(lambda: checker.checked >= self.checks))
        if not setup.haveExactSolutionPath():
            raise NoPath(
                f"{self.planner} found no collision-free path in {checker.checked} checked "
                "configurations",
                checker.blocked,
            )
        states = setup.getSolutionPath().getStates()
        return np.array([[state[i] for i in range(len(start))] for state in states])


def shortcut(path: Path, checker: Checker, rounds: int = 60, seed: int = 0) -> Path:
    """The path with detours replaced by straight lines where these are free."""
    rng = np.random.default_rng(seed)
    points = list(path)
    for _ in range(rounds):
        if len(points) < 3:
            break
        i, j = sorted(rng.choice(len(points), 2, replace=False))
        if j - i > 1 and checker.straight_is_free(points[i], points[j]):
            points[i + 1 : j] = []
    return np.array(points)


def time_path(path: Path, rates: Rates) -> Path:
    """Targets (T, n) at 10 Hz along a path, the first one a frame after its start: as fast as the
    rates allow, from rest to rest, along a cubic spline through the path.

    The time-optimal parametrisation is TOPP-RA's (Pham and Pham 2018); it is stretched to whole
    frames.
    """
    path = _dense(path)
    if len(path) < 2:
        return path[-1:].copy()
    along, spline = _spline(path)
    limit = np.ones((path.shape[1], 1)) * [-1.0, 1.0]
    problem = algorithm.TOPPRA(
        [
            constraint.JointVelocityConstraint(rates.velocity * limit),
            constraint.JointAccelerationConstraint(rates.acceleration * limit),
        ],
        spline,
        gridpoints=np.linspace(0.0, along[-1], max(40, 4 * len(path))),
        solver_wrapper="seidel",
    )
    trajectory = problem.compute_trajectory(0.0, 0.0)
    if trajectory is None:
        raise NoPath(f"no timing of a path of {len(path)} points keeps to {rates}")
    frames = max(1, int(np.ceil(trajectory.duration / FRAME - 1e-6)))
    rows = trajectory(np.arange(1, frames + 1) / frames * trajectory.duration)
    rows[-1] = path[-1]
    return rows


def _rounded(path: Path, checker: Checker) -> Path:
    """The path with points so close that the spline through them is free too; at the closest it
    is the straight lines themselves, which were found free, to within a milliradian."""
    for spacing in SPACING / 2.0 ** np.arange(6):
        dense = _dense(path, spacing)
        along, spline = _spline(dense)
        count = max(2, int(np.ceil(along[-1] / RESOLUTION)))
        if not any(checker.collides(arm) for arm in spline(np.linspace(0, along[-1], count))):
            break
    return dense


def _spline(path: Path) -> tuple[NDArray[np.float64], toppra.SplineInterpolator]:
    """A cubic spline through the rows, by the distance along them (rad)."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    return along, toppra.SplineInterpolator(along, path)


def _dense(path: Path, spacing: float = SPACING) -> Path:
    """The path with points in between, at most `spacing` apart, and without repeated ones."""
    rows = [path[0]]
    for a, b in pairwise(path):
        distance = np.abs(b - a).max()
        if distance > 1e-6:
            count = int(np.ceil(distance / spacing))
            rows.extend(a + (b - a) * (k / count) for k in range(1, count + 1))
    return np.array(rows)
