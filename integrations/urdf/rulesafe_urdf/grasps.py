"""Grasp points of the primitives that are fitted to parts."""

from rulesafe_core.transforms import Vec3
from rulesafe_sim.safe_families import Lever, Tee, Wheel
from rulesafe_urdf.fit import Family

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
