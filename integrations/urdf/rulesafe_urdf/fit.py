"""Fit the primitives of safe_families.py to the mesh of a knob or handle.

The frame of the points: x out of the door along the part's axis from the door's front, z up, y to
the right as seen from the front. Angles are clockwise from z as seen from the front (from z to y).
The fit uses the outline: the largest distance from the axis in each direction, of the part's
section where it is widest, or of a ridge on the face of a round part. Lengths in m.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import pi, tan

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from rulesafe_core.errors import RuleSafeError
from rulesafe_sim.safe_families import Bar, Fluted, Grip, Lever, Tee, Wheel
from rulesafe_urdf.mesh_files import Piece

Family = Bar | Grip | Fluted | Lever | Tee | Wheel

BINS = 360
SAMPLES = 40_000
ARM = 0.65
"""An arm reaches beyond this fraction of the largest distance from the axis."""

COMPACT = 0.68
"""Without arms, the smallest distance is above this fraction of the largest."""

ROUND = 0.02
"""Relative standard deviation of the outline of a round part."""

HELD = 0.7
"""Where on an arm the hand holds it, as a fraction of its length."""

CONCAVE = 0.985
"""An outline that fills less than this fraction of its convex hull has flutes."""

DIAL_RIDGES = 6
"""Ridges by which a round dial, which a pinch would slip on, is approximated for collision."""

THINNEST = 0.003  # m, behind the grip of a part
RIDGES = (0.5, 0.4, 0.3)
"""Depths, as fractions of the distance from the door to the part's front, in which a ridge on the
face of a round part is searched; the largest first."""


@dataclass(frozen=True, eq=False)
class Outline:
    """Measures of a part.

    `kind`: dial, prism, fluted, irregular, bar, lever, tee or wheel. `angle` (rad): direction of
    the arm, or of the z axis for which opposite faces are at +y and -y. `count`: sides, ridges or
    arms. `size`: largest distance from the axis; `across`: width between opposite faces or of an
    arm. `back` and `face`: from the door to the back and front of the grip.
    """

    kind: str
    angle: float
    count: int
    size: float
    across: float
    back: float
    face: float
    radii: NDArray[np.float64]  # (BINS,)

    @property
    def symmetry(self) -> int:
        """Order of rotational symmetry of the outline."""
        orders = {"prism": self.count, "fluted": self.count, "wheel": self.count}
        return orders.get(self.kind, {"bar": 2, "tee": 2, "dial": DIAL_RIDGES}.get(self.kind, 1))


def sample(pieces: tuple[Piece, ...], seed: int = 0) -> NDArray[np.float64]:
    """Return points (SAMPLES, 3) on the surface of the pieces, evenly distributed.

    Raises:
        RuleSafeError: there are no pieces, or their triangles have no area.
    """
    if not pieces:
        raise RuleSafeError("it has no geometry of its own")
    corners = np.concatenate([piece.vertices[piece.faces] for piece in pieces])  # (F, 3, 3)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(across, axis=1)
    if not area.sum() > 1e-9 * np.ptp(corners) ** 2:
        raise RuleSafeError("its triangles have no area")
    rng = np.random.default_rng(seed)
    chosen = corners[rng.choice(len(area), SAMPLES, p=area / area.sum())]
    u, v = np.sort(rng.uniform(size=(2, SAMPLES)), axis=0)
    weights = np.stack([u, v - u, 1 - v], axis=1)
    points: NDArray[np.float64] = np.einsum("nk,nkd->nd", weights, chosen)
    return points


def measure(points: NDArray[np.float64]) -> Outline:
    """Measure a part from points (N, 3) on its surface."""
    points = points[points[:, 0] > 0]
    if not len(points):
        raise RuleSafeError("it does not stand out of the door's front")
    front = float(points[:, 0].max())
    upper = points[points[:, 0] > 0.3 * front]
    distance = np.hypot(upper[:, 1], upper[:, 2])
    wide = upper[distance > ARM * distance.max()][:, 0]
    back, face = float(wide.min()), float(wide.max())
    margin = 0.05 * (face - back)
    zone = upper[(upper[:, 0] >= back - margin) & (upper[:, 0] <= face + margin)]
    radii = _radii(zone)
    if _is_compact(radii):
        ridges = [upper[upper[:, 0] > (1 - depth) * front] for depth in RIDGES]
        ridge = next((points for points in ridges if _is_ridge(_radii(points))), None)
        if ridge is None:
            return _compact(radii, back, face)
        zone, radii = ridge, _radii(ridge)  # the hand pinches the ridge
        back, face = float(ridge[:, 0].min()), front
    arms = _arms(radii > ARM * radii.max())
    if not arms:
        return _compact(radii, back, face)
    count = len(arms)
    spread = np.diff([*arms, arms[0] + 2 * pi])
    if count > 1 and np.ptp(spread) > 0.2:  # irregular: its longest arm
        count, arms = 1, [2 * pi * (int(np.argmax(radii)) + 0.5) / BINS]
    across, size, bend = _arm_sizes(zone, arms)
    if count == 1:
        across, size, _ = _arm_sizes(zone, arms := [arms[0] + bend])
    step = 2 * pi / count
    angle = (arms[0] + step / 2) % step - step / 2
    kind = {1: "lever", 2: "tee"}.get(count, "wheel")
    if kind == "tee" and (size < 2.2 * across or 2 * size < 0.06):
        kind = "bar"
    return Outline(kind, angle, count, size, across, back, face, radii)


def _radii(zone: NDArray[np.float64]) -> NDArray[np.float64]:
    angles = np.arctan2(zone[:, 1], zone[:, 2]) % (2 * pi)
    radii = np.zeros(BINS)
    np.maximum.at(radii, (angles * BINS / (2 * pi)).astype(int) % BINS, np.hypot(*zone[:, 1:].T))
    known = np.flatnonzero(radii)
    filled: NDArray[np.float64] = np.interp(np.arange(BINS), known, radii[known], period=BINS)
    return filled


def _is_compact(radii: NDArray[np.float64]) -> bool:
    return bool(radii.min() > COMPACT * radii.max())


def _is_ridge(radii: NDArray[np.float64]) -> bool:
    """Return whether an outline has two opposite arms and is narrow between them."""
    if _is_compact(radii) or len(arms := _arms(radii > ARM * radii.max())) != 2:
        return False
    return bool(abs(arms[1] - arms[0] - pi) < 0.2 and np.quantile(radii, 0.1) < 0.5 * radii.max())


def _compact(radii: NDArray[np.float64], back: float, face: float) -> Outline:
    """Classify a part without arms: a dial, a prism with flat faces, or a fluted one."""
    mean, largest = float(radii.mean()), float(radii.max())
    if radii.std() < ROUND * mean:
        return Outline("dial", 0.0, 0, largest, 2 * mean, back, face, radii)
    spread = np.sqrt(2) * radii.std()
    orders = [n for n in range(2, 13) if _difference(radii, n) < 0.35 * spread]
    count = max(orders, default=1)
    if count < 4 or count % 2:
        return Outline("irregular", 0.0, 0, largest, 2 * mean, back, face, radii)
    step = 2 * pi / count
    angles = 2 * pi * (np.arange(BINS) + 0.5) / BINS
    top = -float(np.angle((radii * np.exp(-1j * count * angles)).sum())) / count
    angle = (top + step / 2 - pi / 2 + step / 2) % step - step / 2  # a face or flute at +y
    area = 0.5 * float((radii**2).sum()) * 2 * pi / BINS
    kind = "prism" if area > CONCAVE * _hull_area(radii, angles) else "fluted"
    across = 2 * (float(np.quantile(radii, 0.02)) if kind == "prism" else largest)
    return Outline(kind, angle, count, largest, across, back, face, radii)


def _difference(radii: NDArray[np.float64], order: int) -> float:
    """Return the RMS difference (m) of an outline and itself rotated by a turn / order."""
    shifted = np.interp(np.arange(BINS) + BINS / order, np.arange(BINS), radii, period=BINS)
    return float(np.sqrt(((radii - shifted) ** 2).mean()))


def _hull_area(radii: NDArray[np.float64], angles: NDArray[np.float64]) -> float:
    points = radii[:, None] * np.stack([np.sin(angles), np.cos(angles)], axis=1)
    return float(ConvexHull(points).volume)  # of a flat hull: its area


def _arms(long: NDArray[np.bool_]) -> list[float]:
    """Return the directions (rad) of the middles of contiguous bins; none if all are long."""
    starts = np.flatnonzero(long & ~np.roll(long, 1))
    ends = np.flatnonzero(long & ~np.roll(long, -1))
    if len(ends) and ends[0] < starts[0]:
        ends = np.roll(ends, -1)
    widths = (ends - starts) % BINS
    return [float(2 * pi * (s + w / 2 + 0.5) / BINS) for s, w in zip(starts, widths, strict=True)]


def _arm_sizes(zone: NDArray[np.float64], arms: list[float]) -> tuple[float, float, float]:
    """Measure arms.

    Returns:
        Their width across their direction where the hand grips them and the distance of their tips
        from the axis (m); and the angle (rad) from their direction to the middle of their grip,
        for arms that are bent.
    """
    directions = np.stack([np.sin(arms), np.cos(arms)], axis=1)
    flat = zone[:, 1:]
    nearest = (flat @ directions.T).argmax(axis=1)
    mine = directions[nearest]
    along = (flat * mine).sum(1)
    aside = flat[:, 0] * mine[:, 1] - flat[:, 1] * mine[:, 0]
    size = float(along.max())
    held = (along > (HELD - 0.08) * size) & (along < (HELD + 0.08) * size)
    ends = [
        np.quantile(aside[held & (nearest == arm)], (0.005, 0.995))
        for arm in range(len(arms))
        if (held & (nearest == arm)).any()
    ]
    low, high = np.mean(ends, axis=0) if ends else (-0.01, 0.01)
    return float(high - low), size, float(np.arctan2((low + high) / 2, HELD * size))


def fitted(of: Outline) -> Family:
    """Return the primitive that approximates a part, with sizes within their limits."""
    face = _clip(of.face, 0.03, 0.08)
    depth = _clip(of.face - of.back, 0.015, min(0.04, face - THINNEST))
    middle = _clip((of.face + of.back) / 2, 0.03, 0.07)
    if of.kind == "prism":
        return Grip(of.count, _clip(of.across, 0.02, 0.0355), depth, face)
    if of.kind in ("fluted", "dial", "irregular"):
        ridges = of.count if of.kind == "fluted" else DIAL_RIDGES
        across = _clip(of.across, 0.02, 0.04)
        radius = _ridge_radius(of) if of.kind == "fluted" else 0.25 * across * tan(pi / ridges)
        radius = _clip(radius, 0.003, 0.008)
        return Fluted(min(ridges, 10), across, radius, max(depth, across - 2 * radius), face)
    if of.kind == "bar":
        return Bar(_clip(2 * of.size, 0.03, 0.08), _clip(of.across, 0.0155, 0.0355), depth, face)
    radius = _clip(of.across / 2, 0.0078, 0.0175)
    if of.kind == "lever":
        return Lever(_clip(of.size, 0.06, 0.14), radius, middle)
    if of.kind == "tee":
        return Tee(_clip(2 * of.size, 0.07, 0.16), radius, middle)
    hub = _clip(float(of.radii.min()), 0.01, 0.03)
    return Wheel(of.count, _clip(of.size, 0.05, 0.09), min(radius, 0.012), hub, middle)


def _ridge_radius(of: Outline) -> float:
    """Return the radius of ridges (m) whose outline is nearest to the measured one."""
    angles = np.linspace(0, pi / of.count, 40)  # from the top of a ridge to the flute beside it
    folded = np.sort(of.radii)[::-1]
    measured = np.interp(np.linspace(0, BINS - 1, 40), np.arange(BINS), folded)

    def error(radius: float) -> float:
        ring = of.across / 2 - radius
        inside = np.maximum(radius**2 - (ring * np.sin(angles)) ** 2, 0.0)
        model = np.maximum(ring * np.cos(angles) + np.sqrt(inside), ring)
        return float(((model - measured) ** 2).sum())

    return float(min(np.arange(0.003, 0.0081, 0.00025), key=error))


def _clip(value: float, low: float, high: float) -> float:
    return float(round(min(max(value, low), high), 5))


PREFERRED: dict[str, Callable[[Outline], tuple[float, float, float]]] = {
    **dict.fromkeys(("dial", "irregular"), lambda of: (of.across, 0.024, 0.034)),
    "prism": lambda of: (of.across, 0.022, 0.034),
    "fluted": lambda of: (of.across, 0.024, 0.036),
    "bar": lambda of: (of.across, 0.016, 0.034),
    "lever": lambda of: (of.size, 0.07, 0.12),
    "tee": lambda of: (2 * of.size, 0.08, 0.14),
    "wheel": lambda of: (of.size, 0.062, 0.085),
}
"""A length of each kind of part, and the smallest and largest value that the hand can grip well."""


def scales(of: Outline) -> tuple[float, float]:
    """Return the factors along the axis and across it by which a part fits the hand; 1 where it
    does already."""
    length, low, high = PREFERRED[of.kind](of)
    across = 1.0 if low <= length <= high else min(max(length, low), high) / length
    turned = of.kind in ("lever", "tee", "wheel")
    out = (of.face + of.back) / 2 if turned else of.face
    low, high = (0.035, 0.06) if turned else (0.038, 0.065)
    along = 1.0 if low <= out <= high else (0.045 if turned else 0.05) / out
    return round(along, 4), round(across, 4)
