"""Grasp points of fitted primitives, and of parts without one."""

import numpy as np

from rulesafe_core.body import Shape
from rulesafe_core.transforms import Vec3
from rulesafe_design.safes.fit import Family
from rulesafe_sim.safe_checks import PINCH_WIDTH, contains
from rulesafe_sim.safe_families import Lever, Tee, Wheel

Points = tuple[Vec3, ...]
PULL_BEHIND = 0.004  # m, the hand pulls a little behind the middle of an arm

SHARES = {Lever: (0.70, 0.50), Tee: (0.31, 0.28, 0.0), Wheel: (0.81, 0.78)}
"""Where on an arm a pinch turns the part, and where it pulls the door: fractions of the length."""


def gripped_grasps(grip: Family) -> tuple[Points, Points]:
    """Return the points (m, frame of the part) at which a pinch turns a primitive, and those at
    which it pulls the door."""
    if isinstance(grip, Lever | Tee | Wheel):
        x = round(grip.off_door, 4)
        turn, *pull = ((x, 0.0, round(share * grip.length, 4)) for share in SHARES[type(grip)])
        return (turn,), tuple((round(x - PULL_BEHIND, 4), y, z) for x, y, z in pull)
    x = round(grip.face - min(grip.depth / 2, 0.015), 4)
    return ((x, 0.0, 0.0),), ((x, 0.0, 0.0),)


def free_grasp(solid: list[Shape]) -> tuple[Vec3, Vec3] | None:
    """Return the point (m) farthest from the axis at which a pinch holds a part without a fitted
    primitive, and its closing axis; None if there is none."""
    low, high = PINCH_WIDTH
    along = np.linspace(-0.03, 0.03, 121)
    for radius in np.arange(0.12, -0.001, -0.005):
        for angle in np.linspace(0, 2 * np.pi, 24, endpoint=False):
            arm = np.array((0.0, np.sin(angle), np.cos(angle)))
            closing = np.array((0.0, np.cos(angle), -np.sin(angle)))
            for x in np.arange(0.06, 0.029, -0.005):
                point = radius * arm + (x, 0, 0)
                line = point + np.outer(along, closing)
                inside = np.any([contains(shape, line) for shape in solid], axis=0)
                width = 0.0005 * int(inside.sum())
                if inside[60] and not inside[[0, -1]].any() and low + 0.001 < width < high - 0.001:
                    return _vector(point), _vector(closing)
    return None


def _vector(values: np.ndarray) -> Vec3:
    x, y, z = (round(float(v), 5) + 0.0 for v in values)
    return x, y, z
