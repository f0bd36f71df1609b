"""A memory: tokens of how fast the arm and the hand moved."""

from dataclasses import dataclass

import numpy as np

from vq_memory_node.memory import Memory


@dataclass(frozen=True)
class Speed(Memory):
    """0: at rest, 1: slow, 2: fast.

    Attributes:
        length: number of tokens, 2 s apart.
    """

    length: int = 20
    vocabulary = 3
    window = 5  # frames at 10 Hz

    def value(self, window):
        """Return the token of joint positions (5, 13), rad."""
        change = np.ptp(window, axis=0).max()
        return int(np.digitize(change, (0.01, 0.1)))
