"""History of joint positions and targets at 10 Hz for the page's plots."""

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.chunks import SECOND, Chunk

STEP = 0.095
"""Minimum time between rows, s; shorter than a frame, since stamps jitter."""

LENGTH = 1200
"""Maximum number of rows: two minutes."""

Row = list[float | None]
"""Time in s, 13 positions and 13 targets (None: no target), rad."""


class JointHistory:
    """Rows of an episode that started at `origin` (ns)."""

    def __init__(self, origin: int):
        self.origin = origin
        self.rows: list[Row] = []

    def add(self, stamp: int, positions: NDArray[np.float64], chunk: Chunk | None) -> Row | None:
        """Add positions (13,), rad, at `stamp` (ns); return the row, or None if none is due."""
        time = round((stamp - self.origin) / SECOND, 3)
        last = self.rows[-1][0] if self.rows else None
        if last is not None and time - last < STEP:
            return None
        row: Row = [time, *rounded(positions), *targets(chunk, stamp, len(positions))]
        self.rows.append(row)
        del self.rows[:-LENGTH]
        return row


def rounded(values: NDArray[np.float64]) -> list[float]:
    """Return the values rounded to 0.1 mrad."""
    return [round(value, 4) for value in values.tolist()]


def targets(chunk: Chunk | None, stamp: int, width: int) -> Row:
    """Return the target of each joint at `stamp` (ns), rad; None outside the chunk."""
    if chunk is None or not chunk.times[0] <= stamp <= chunk.end:
        return [None] * width
    rows = [np.interp(stamp, chunk.times, column) for column in chunk.steps.T]
    return list(rounded(np.array(rows)))
