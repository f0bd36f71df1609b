"""Camera observation of a frame."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Frame:
    """Images and point cloud of a frame.

    Attributes:
        head, front: images (H, W, 3) uint8, H and W even; 224 by 224 in RuleSafe. None in a
            dataset without images.
        points: point cloud (P, 6) float32, x, y, z in the pelvis frame (m) and r, g, b in 0..1;
            None in a dataset without point clouds.
    """

    head: NDArray[np.uint8] | None
    front: NDArray[np.uint8] | None
    points: NDArray[np.float32] | None = None
