"""Windows of past joint positions, the input of a memory token.

Frame t of an episode is at t / RATE seconds after its reset. Positions before frame 0 are taken to
be those of frame 0.
"""

import numpy as np
from numpy.typing import NDArray

RATE = 10
"""Frames per second."""

WINDOW = 50
"""Frames per window (Wang et al., "VQ-Memory", section on discrete joint states)."""

STRIDE = 20
"""Frames between two tokens (Wang et al., "VQ-Memory", section on discrete joint states)."""

LENGTH = 40
"""Tokens in a memory (Wang et al., "VQ-Memory", implementation details): 50 + 39 x 20 = 830 frames,
83 s."""


def window_at(positions: NDArray[np.float32], frame: int, window: int = WINDOW) -> NDArray:
    """Return the window (window, J) that ends with `frame` of a trajectory (N, J).

    Before the start of the episode, the first frame is repeated."""
    missing = max(window - 1 - frame, 0)
    observed = positions[max(frame - window + 1, 0) : frame + 1]
    return np.concatenate([np.repeat(positions[:1], missing, axis=0), observed])
