"""Colours of tokens in videos and figures: token j has the same colour for every vocabulary."""

from functools import cache

import matplotlib
import numpy as np
from numpy.typing import NDArray

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
"""The first seven colours, distinguishable with colour blindness (Okabe and Ito, 2008)."""

LIGHTNESS = (0.5, 0.92)
"""Range of lightness (OKLab) of further colours: visible on white and in dark films."""

_LMS = np.array([[0.41222, 0.53633, 0.05145], [0.2119, 0.6807, 0.1074], [0.0883, 0.28172, 0.62998]])
_LAB = np.array(
    [[0.21045, 0.79362, -0.00407], [1.978, -2.42859, 0.45059], [0.0259, 0.78277, -0.80867]]
)


def oklab(colours: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert sRGB (N, 3) in 0..1 to the perceptually uniform OKLab (N, 3) (Ottosson,
    "A perceptual color space for image processing", 2020)."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return np.cbrt(linear @ _LMS.T) @ _LAB.T


def cluster_colours(clusters: int) -> NDArray[np.float64]:
    """Return one RGBA colour per token (J, 4). The palette repeats after about three thousand.

    The first colours are those of Okabe and Ito; each further one is the farthest from all previous
    colours in OKLab.
    """
    palette = _palette()
    return palette[np.arange(clusters) % len(palette)]


@cache
def _palette() -> NDArray[np.float64]:
    steps = np.linspace(0, 1, 16)
    colours = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    points = oklab(colours)
    visible = (points[:, 0] >= LIGHTNESS[0]) & (points[:, 0] <= LIGHTNESS[1])
    colours, points = colours[visible], points[visible]
    chosen = [np.array(matplotlib.colors.to_rgb(name)) for name in OKABE_ITO]
    distance = np.full(len(points), np.inf)
    for point in oklab(np.array(chosen)):
        distance = np.minimum(distance, ((points - point) ** 2).sum(axis=1))
    for _ in points:
        furthest = int(distance.argmax())
        chosen.append(colours[furthest])
        distance = np.minimum(distance, ((points - points[furthest]) ** 2).sum(axis=1))
    return np.concatenate([np.array(chosen), np.ones((len(chosen), 1))], axis=1)
