"""Farthest-point sampling, compiled."""

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_render.renderer import load_kernel


def farthest_points(points: NDArray[np.float32], count: int, kernel: str = "") -> NDArray[np.int32]:
    """Compute the result of `rulesafe_core.cloud.farthest_points`, about ten times as fast.

    Args:
        points: (N, 3) integers within +-1024.
        count: number of points to select, 1..N.
        kernel: one of KERNELS; empty: the fastest.

    Returns:
        Indices (count,) of the points.

    Raises:
        RuleSafeError: the points have another shape, or there are fewer than `count`.
    """
    given = np.ascontiguousarray(points, np.float32)
    if given.ndim != 2 or given.shape[1] != 3 or not 1 <= count <= len(given):
        raise RuleSafeError(
            f"cannot select {count} of points with the shape {given.shape}; valid: 1 to N of (N, 3)"
        )
    selected = np.empty(count, np.int32)
    load_kernel(kernel).library.render_farthest(
        given.ctypes.data, len(given), count, selected.ctypes.data
    )
    return selected
