"""Joints and what was asked of them at 10 Hz, for the page's plots. No ROS here."""

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.chunks import SECOND, Chunk

STEP = 0.095
"""s between two rows at least: a little less than a frame, for stamps that jitter."""

LENGTH = 1200
"""Rows kept: two minutes."""

Row = list[float | None]
"""Time in s, 13 positions, 13 targets (None: nothing was asked), rad."""


class History:
    """Rows of the episode that began at `origin` (ns)."""

    def __init__(self, origin: int):
        self.origin = origin
        self.rows: list[Row] = []

    def add(self, stamp: int, positions: NDArray[np.float64], chunk: Chunk | None) -> Row | None:
        """Adds positions (13,), rad, at `stamp` (ns); the row, or None where one is not due."""
        time = round((stamp - self.origin) / SECOND, 3)
        last = self.rows[-1][0] if self.rows else None
        if last is not None and time - last < STEP:
            return None
        row: Row = [time, *rounded(positions), *asked(chunk, stamp, len(positions))]
        self.rows.append(row)
        del self.rows[:-LENGTH]
        return row


def rounded(values: NDArray[np.float64]) -> list[float]:
    """To 0.1 mrad, as JSON carries it."""
    return [round(value, 4) for value in values.tolist()]


def asked(chunk: Chunk | None, stamp: int, width: int) -> Row:
    """What the chunk asks of each joint at `stamp` (ns), rad; None where it asks nothing."""
    if chunk is None or not chunk.times[0] <= stamp <= chunk.end:
        return [None] * width
    rows = [np.interp(stamp, chunk.times, column) for column in chunk.rows.T]
    return list(rounded(np.array(rows)))
