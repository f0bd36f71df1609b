"""Camera observation of a frame."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Frame:
    """Images and point cloud of a frame.

    Attributes:
        images: camera -> image (H, W, 3) uint8, H and W even; 224 by 224 by default. Empty in a
            dataset without images.
        points: point cloud (P, 6) float32, x, y, z in the pelvis frame (m) and r, g, b in 0..1;
            None in a dataset without point clouds.
    """

    images: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict)
    points: NDArray[np.float32] | None = None
