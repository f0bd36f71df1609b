"""A frame of a demonstration: what the cameras see."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Frame:
    """What the cameras see at one instant.

    Attributes:
        head, front: pictures (H, W, 3) uint8, H and W even; 224 by 224 in RuleSafe. None in a
            dataset without pictures.
        points: cloud (P, 6) float32, x, y, z in the pelvis frame (m) and r, g, b in 0..1; None
            in a dataset without clouds.
    """

    head: NDArray[np.uint8] | None
    front: NDArray[np.uint8] | None
    points: NDArray[np.float32] | None = None
