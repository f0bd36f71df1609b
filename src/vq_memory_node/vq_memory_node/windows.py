"""Windows of past joint positions, as a memory token sees them.

Frame t of an episode is the instant t / RATE after its reset. Before frame 0 the robot is taken to
have stood as it stands there.
"""

import numpy as np
from numpy.typing import NDArray

RATE = 10
"""Frames in a second."""

WINDOW = 50
"""Frames that one token covers (Wang et al., "VQ-Memory", section on discrete joint states)."""

STRIDE = 20
"""Frames from one token to the next (there too)."""

LENGTH = 40
"""Tokens that a memory holds (there, implementation details): 50 + 39 x 20 = 830 frames, 83 s."""


def window_at(positions: NDArray[np.float32], frame: int, window: int = WINDOW) -> NDArray:
    """The window (window, J) that ends with this frame of a trajectory (N, J); the first frame is
    repeated where it begins before the episode."""
    missing = max(window - 1 - frame, 0)
    seen = positions[max(frame - window + 1, 0) : frame + 1]
    return np.concatenate([np.repeat(positions[:1], missing, axis=0), seen])
