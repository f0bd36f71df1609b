"""Grids: the frames at which the windows stored in a memory end. Of a memory that has values at
keyframes only, they are counted in keyframes."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from vq_memory_node.windows import LENGTH, STRIDE


@dataclass(frozen=True)
class Grid(ABC):
    """Frames at which the stored windows end; the newest ends at the last multiple of `every`.

    Attributes:
        stride: frames between two stored windows.
        length: number of stored windows.
    """

    stride: int = STRIDE
    length: int = LENGTH

    def __post_init__(self) -> None:
        if self.stride < 1 or self.length < 0:
            raise RuleSafeError(
                f"a grid needs a stride of 1 frame or more and a length of 0 or more, "
                f"got {self.stride} and {self.length}"
            )

    @property
    @abstractmethod
    def every(self) -> int:
        """Frames between two new values."""


class Sliding(Grid):
    """Windows that end at t, t - stride, t - 2 stride, ..., where t is the current frame.

    A value belongs to every frame, because it is read again `stride` frames later.
    """

    @property
    def every(self) -> int:
        return 1


class FromStart(Grid):
    """Windows that end at frames 0, stride, 2 stride, ... of the episode."""

    @property
    def every(self) -> int:
        return self.stride


GRIDS: dict[str, type[Grid]] = {"sliding": Sliding, "from_start": FromStart}


def make_grid(name: str, length: int = LENGTH) -> Grid:
    """Return the grid with this name; raise RuleSafeError, listing the names, if it is unknown."""
    if name not in GRIDS:
        raise unknown_name("grid", name, GRIDS)
    return GRIDS[name](length=length)


def ends_of(frames: NDArray[np.int64] | Sequence[int], grid: Grid) -> NDArray[np.int64]:
    """Return the end frames (N, length) of the windows that are stored at each of `frames` (N,).

    The oldest window is first. Negative frames are before the start of the episode."""
    newest = np.asarray(frames, np.int64) // grid.every * grid.every
    return newest[:, None] - grid.stride * np.arange(grid.length - 1, -1, -1)
