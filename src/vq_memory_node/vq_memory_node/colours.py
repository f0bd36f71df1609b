"""Colours for tokens, in films and in figures: number j has the same one whatever their count."""

from functools import cache

import matplotlib
import numpy as np
from numpy.typing import NDArray

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
"""Colours that the colour-blind tell apart (Okabe and Ito 2008): the first seven."""

LIGHTNESS = (0.5, 0.92)
"""Least and greatest lightness (OKLab) of the further ones: seen on white and on a dark film."""

_LMS = np.array([[0.41222, 0.53633, 0.05145], [0.2119, 0.6807, 0.1074], [0.0883, 0.28172, 0.62998]])
_LAB = np.array(
    [[0.21045, 0.79362, -0.00407], [1.978, -2.42859, 0.45059], [0.0259, 0.78277, -0.80867]]
)


def oklab(colours: NDArray[np.float64]) -> NDArray[np.float64]:
    """sRGB (N, 3) in 0..1 as OKLab (N, 3), where distances are as the eye sees them (Ottosson,
    "A perceptual color space for image processing", 2020)."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return np.cbrt(linear @ _LMS.T) @ _LAB.T


def cluster_colours(clusters: int) -> NDArray[np.float64]:
    """(J, 4) a colour for each token: Okabe and Ito's, then each as far from all before it as
    can be. They begin anew after some three thousand."""
    palette = _palette()
    return palette[np.arange(clusters) % len(palette)]


@cache
def _palette() -> NDArray[np.float64]:
    steps = np.linspace(0, 1, 16)
    colours = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    places = oklab(colours)
    seen = (places[:, 0] >= LIGHTNESS[0]) & (places[:, 0] <= LIGHTNESS[1])
    colours, places = colours[seen], places[seen]
    chosen = [np.array(matplotlib.colors.to_rgb(name)) for name in OKABE_ITO]
    distance = np.full(len(places), np.inf)
    for place in oklab(np.array(chosen)):
        distance = np.minimum(distance, ((places - place) ** 2).sum(axis=1))
    for _ in places:
        furthest = int(distance.argmax())
        chosen.append(colours[furthest])
        distance = np.minimum(distance, ((places - places[furthest]) ** 2).sum(axis=1))
    return np.concatenate([np.array(chosen), np.ones((len(chosen), 1))], axis=1)
