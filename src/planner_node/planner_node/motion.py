"""Collision-free arm paths in joint space, and their timing at 10 Hz."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError, unknown_name

Path = NDArray[np.float64]  # (N, 7) rad, straight lines between the rows
Contacts = Callable[[NDArray[np.float64]], Iterable[tuple[str, str]]]
"""Function that returns the pairs of link names that touch at a configuration; empty if
it is collision-free."""

FRAME = PERIOD / SECOND  # time between two actions, s
RESOLUTION = 0.04  # rad between two checked configurations
STEP = 0.8
"""Largest extension (rad) of a planner's tree in one iteration (OMPL's range)."""

SHORTCUTS = 60
"""Number of attempts to shorten a path by a straight line."""

SPACING = 0.1
"""Distance (rad) between the points of a path's spline, which bounds how far corners are cut."""

DETOURS = (0.4, 0.8, 1.0)
"""Positions of the bend between the middle of the blocked line (0) and `bend_towards` (1) of
`PathPlanner.plan`, in the order in which they are tried."""

PLANNERS = ("RRTConnect", "BKPIECE1", "LBKPIECE1", "KPIECE1", "BITstar")
"""OMPL's geometric planners that can be selected by name."""


@cache
def _toppra() -> Any:
    """Import TOPP-RA on first use: with its dependencies it takes a second."""
    import toppra

    toppra.setup_logging("ERROR")  # TOPP-RA warns about each grid that it refines
    return toppra


class NoPath(RuleSafeError):
    """No collision-free path was found. `blocked` counts the collisions of each pair of links."""

    def __init__(self, message: str, blocked: Counter[tuple[str, str]] | None = None):
        self.blocked = blocked or Counter()
        named = ", ".join(f"{a} with {b}" for (a, b), _ in self.blocked.most_common(4))
        super().__init__(f"{message}; collisions: {named}" if named else message)


@dataclass(frozen=True)
class Rates:
    """Limits of the speed (rad/s) and acceleration (rad/s^2) of every arm joint."""

    velocity: float
    acceleration: float

    def scaled(self, factor: float) -> "Rates":
        """Return the limits for the same motion, `factor` times as fast."""
        return Rates(self.velocity * factor, self.acceleration * factor**2)


class Checker:
    """Checks configurations for collisions and counts the colliding links for error messages."""

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
        """Return whether the straight line between two configurations is collision-free, checked
        every `resolution` rad."""
        count = max(2, int(np.ceil(np.abs(goal - start).max() / resolution)) + 1)
        # Check the middle first, since a blocked line is usually blocked there.
        fractions = sorted(np.linspace(0, 1, count), key=lambda f: abs(f - 0.5))
        return not any(self.collides(start + f * (goal - start)) for f in fractions)


class PathPlanner:
    """Plans collision-free paths: the straight line if it is free, else with an OMPL planner.

    A search is limited by the number of configurations that it checks, not by time, and its seed
    is set again for each path, so that results are the same on every machine.
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
        _toppra()  # now rather than in the first plan

    def plan(
        self, start, goal, contacts: Contacts, bend_towards: NDArray[np.float64] | None = None
    ) -> Path:
        """Return a path (N, 7) from start to goal.

        Args:
            start, goal: arm joints (7,), rad.
            contacts: function that returns the contacts at a configuration.
            bend_towards: posture (7,), rad. A blocked straight line is first bent towards it; only
                if that is blocked, too, the OMPL planner runs. A bent line changes little with
                start and goal, while the paths of a sampling-based planner vary randomly.

        Raises:
            NoPath: with the colliding links.
        """
        checker = Checker(contacts)
        for end, arm in (("start", start), ("goal", goal)):
            if checker.collides(arm):
                raise NoPath(f"the {end} of the path is in collision", checker.blocked)
        if checker.straight_is_free(start, goal):
            return np.stack([start, goal])
        if bend_towards is not None:
            for share in DETOURS:
                bend = (1 - share) * (start + goal) / 2 + share * bend_towards
                if checker.straight_is_free(start, bend) and checker.straight_is_free(bend, goal):
                    return _rounded(np.stack([start, bend, goal]), checker)
        return _rounded(shortcut(self._search(start, goal, checker), checker), checker)

    def _search(self, start, goal, checker: Checker) -> Path:
        # OMPL warns when the seed is set again, but planners created afterwards do use it.
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
        # OMPL expects a fraction of the space's diagonal, which is 11 rad for the arm.
        info.setStateValidityCheckingResolution(RESOLUTION / space.getMaximumExtent())
        first, last = space.allocState(), space.allocState()
        for i in range(len(start)):
            first[i], last[i] = float(start[i]), float(goal[i])
        setup.setStartAndGoalStates(first, last)
        planner = getattr(og, self.planner)(info)
        if hasattr(planner, "setRange"):
            planner.setRange(STEP)  # OMPL's default, a fifth of the diagonal, is too long
        setup.setPlanner(planner)
        setup.solve(ob.PlannerTerminationCondition(lambda: checker.checked >= self.checks))
        if not setup.haveExactSolutionPath():
            raise NoPath(
                f"{self.planner} found no collision-free path after checking {checker.checked} "
                "configurations",
                checker.blocked,
            )
        states = setup.getSolutionPath().getStates()
        return np.array([[state[i] for i in range(len(start))] for state in states])


def shortcut(path: Path, checker: Checker) -> Path:
    """Return the path with detours replaced by straight lines where these are collision-free."""
    rng = np.random.default_rng(0)
    points = list(path)
    for _ in range(SHORTCUTS):
        if len(points) < 3:
            break
        i, j = sorted(rng.choice(len(points), 2, replace=False))
        if j - i > 1 and checker.straight_is_free(points[i], points[j]):
            points[i + 1 : j] = []
    return np.array(points)


def time_path(path: Path, rates: Rates) -> Path:
    """Return targets (T, n) at 10 Hz along a path, from rest to rest, as fast as the rates allow.

    The arm follows a cubic spline through the path; the first target is one frame after its start.
    The time-optimal parametrisation is TOPP-RA's (Pham and Pham 2018), stretched to an integer
    number of frames.
    """
    path = _dense(path)
    if len(path) < 2:
        return path[-1:].copy()
    along, spline = _spline(path)
    limit = np.ones((path.shape[1], 1)) * [-1.0, 1.0]
    constraint = _toppra().constraint
    problem = _toppra().algorithm.TOPPRA(
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
        raise NoPath(
            f"time parametrisation (TOPP-RA) failed for a path of {len(path)} points with at most "
            f"{rates.velocity:g} rad/s and {rates.acceleration:g} rad/s^2"
        )
    frames = max(1, int(np.ceil(trajectory.duration / FRAME - 1e-6)))
    rows = trajectory(np.arange(1, frames + 1) / frames * trajectory.duration)
    rows[-1] = path[-1]
    return rows


def _rounded(path: Path, checker: Checker) -> Path:
    """Return the path with points added until the spline through them is collision-free. At the
    smallest spacing the spline follows the straight lines, which are free, within a milliradian."""
    for spacing in SPACING / 2.0 ** np.arange(6):
        dense = _dense(path, spacing)
        along, spline = _spline(dense)
        count = max(2, int(np.ceil(along[-1] / RESOLUTION)))
        if not any(checker.collides(arm) for arm in spline(np.linspace(0, along[-1], count))):
            break
    return dense


def _spline(path: Path) -> tuple[NDArray[np.float64], Any]:
    """Return a cubic spline through the path's points, by the distance along them (rad)."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    return along, _toppra().SplineInterpolator(along, path)


def _dense(path: Path, spacing: float = SPACING) -> Path:
    """Return the path with points at most `spacing` apart (rad), and without repeated points."""
    rows = [path[0]]
    for a, b in pairwise(path):
        distance = np.abs(b - a).max()
        if distance > 1e-6:
            count = int(np.ceil(distance / spacing))
            rows.extend(a + (b - a) * (k / count) for k in range(1, count + 1))
    return np.array(rows)
