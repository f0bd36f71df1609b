"""Measure whether images show the phase of a knob or handle, by rendering it closed and open."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rulesafe_sim.safe import Safe
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.safe_meshes import Mesh
from rulesafe_sim.safes import SafeFile
from rulesafe_urdf.sheets import SAFE_POSE
from rulesafe_urdf.views import View, Viewpoint, corners, framed, take_views

SIDE = 240  # pixels
DISTANCE = 0.6  # m
DIFFERENT = 24
"""Smallest difference of a pixel's colour (0 to 255) that counts."""

VISIBLE = 0.03
"""Fraction of the part's pixels that must differ for its phase to be visible."""


class PhaseImages(NamedTuple):
    """Images (H, W, 3) of a part, closed and fully open, and the fraction of its pixels that
    differ."""

    closed: NDArray[np.uint8]
    opened: NDArray[np.uint8]
    difference: float

    @property
    def visible(self) -> bool:
        return self.difference > VISIBLE


def measure_phase(safe: Safe, part: str) -> PhaseImages:
    """Render a knob or handle, closed and fully open, from the front and slightly above."""
    body = safe_body(safe)
    ends: list[dict[str, float]] = [{}, {f"{part}_joint": safe.parts[part].range}]
    points = np.concatenate([corners(body, positions, [part]) for positions in ends])
    viewpoint = framed(part, (1.0, 0.15 * safe.hinge_side, 0.25), points, DISTANCE)
    closed, opened = (_shot(safe, positions, viewpoint) for positions in ends)
    of_part = (closed.links == part) | (opened.links == part)
    change = np.abs(closed.rgb.astype(int) - opened.rgb.astype(int)).max(axis=2) > DIFFERENT
    difference = float((change & of_part).sum() / max(1, of_part.sum()))
    return PhaseImages(closed.rgb, opened.rgb, difference)


def _shot(safe: Safe, positions: Mapping[str, float], viewpoint: Viewpoint) -> View:
    return take_views(safe_body(safe), positions, SAFE_POSE, [viewpoint], SIDE)[viewpoint.name]


def measured(about: SafeFile, safe: Safe) -> tuple[SafeFile, dict[str, float]]:
    """Return the content of a safe's file with the measured phases of its parts that are meshes,
    and the fractions of pixels that differ, by part. `safe`: as loaded from the file."""
    parts, found = about.parts, {}
    for name in ("knob", "handle"):
        part = getattr(parts, name)
        if isinstance(part.shape, Mesh):
            images = measure_phase(safe, name)
            found[name] = images.difference
            shape = replace(part.shape, phase_visible=images.visible)
            parts = replace(parts, **{name: replace(part, shape=shape)})
    return replace(about, parts=parts), found
