"""Where the windows end that a memory remembers: two grids of instants."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from vq_memory_node.windows import LENGTH, STRIDE


@dataclass(frozen=True)
class Grid(ABC):
    """Where the remembered windows end; the newest at the last frame that is a multiple of `every`.

    Attributes:
        stride: frames from one remembered window to the next.
        length: windows remembered.
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
        """Frames from one new value to the next."""


class Sliding(Grid):
    """Windows slide back from now: they end at t, t - stride, t - 2 stride, ...

    Each frame yields a value, so that the one of `stride` frames ago is there when it is read.
    """

    @property
    def every(self) -> int:
        return 1


class FromStart(Grid):
    """Windows end at frames 0, stride, 2 stride, ... of the episode; the reading changes there."""

    @property
    def every(self) -> int:
        return self.stride


GRIDS: dict[str, type[Grid]] = {"sliding": Sliding, "from_start": FromStart}


def make_grid(name: str, length: int = LENGTH) -> Grid:
    """Return the grid of this name and length. Errors: RuleSafeError, listing the names."""
    if name not in GRIDS:
        raise unknown_name("grid", name, GRIDS)
    return GRIDS[name](length=length)


def ends_of(frames: NDArray[np.int64] | Sequence[int], grid: Grid) -> NDArray[np.int64]:
    """Return the frames (N, length) at which the windows end that are remembered at each of
    `frames` (N,), oldest first; negative where that would be before the episode."""
    newest = np.asarray(frames, np.int64) // grid.every * grid.every
    return newest[:, None] - grid.stride * np.arange(grid.length - 1, -1, -1)
