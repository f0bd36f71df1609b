"""Readings of a memory, frame by frame in a running episode or for all frames of a stored one.

Both give bit-identical readings, because a value depends on its window only.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.grids import Grid, Sliding, ends_of
from vq_memory_node.memory import Memory, Reading


class _RingBuffer:
    """The last `size` items that were added, as one contiguous view, oldest first.

    Each item is stored twice, `size` items apart, so that the last `size` items are always
    contiguous. Adding an item takes constant time and moves no other item.
    """

    def __init__(self, zeros: NDArray[Any]) -> None:
        self._size = len(zeros)
        self._items = np.concatenate([zeros, zeros])
        self._next = 0

    def add(self, item: Any) -> None:
        at = self._next
        self._items[at] = self._items[at + self._size] = item
        self._next = (at + 1) % self._size

    def fill(self, item: Any) -> None:
        self._items[:] = item

    def view(self) -> NDArray[Any]:
        return self._items[self._next : self._next + self._size]


class RollingMemory:
    """Computes and stores the values of a memory during an episode.

    Args:
        memory: computes a value from a window.
        grid: frames at which the windows end; by default `Sliding` with `memory.length` windows.
    """

    def __init__(self, memory: Memory, grid: Grid | None = None) -> None:
        self.memory = memory
        self.grid = Sliding(length=memory.length) if grid is None else grid
        self._step = self.grid.stride // self.grid.every
        self._window = _RingBuffer(np.zeros((memory.window, len(ACTION_JOINTS)), np.float32))
        self._values = _RingBuffer(memory.zeros(max((self.grid.length - 1) * self._step + 1, 1)))
        self._frames = self._count = 0

    def reset(self) -> None:
        """Clear all values; the next frame is the first of an episode."""
        self._values.fill(0)
        self._frames = self._count = 0

    def push(self, position: NDArray[Any]) -> bool:
        """Add the next frame's joint positions (13,), rad.

        Returns:
            Whether a new value was added to what `read` returns.

        Raises:
            RuleSafeError: `position` is not 13 finite numbers; the memory is unchanged.
        """
        position = np.asarray(position, np.float32)
        if position.shape != (len(ACTION_JOINTS),) or not np.isfinite(position).all():
            raise RuleSafeError(
                f"a frame is {len(ACTION_JOINTS)} finite joint positions in rad, got {position}"
            )
        if not self._frames:
            self._window.fill(position)  # before the first frame the robot was at the same pose
        self._window.add(position)
        due = self.grid.length > 0 and self._frames % self.grid.every == 0
        self._frames += 1
        if due:
            self._values.add(self.memory.value(self._window.view()))
            self._count += 1
        return due

    def read(self) -> Reading:
        """Return a copy of the current values."""
        length = self.grid.length
        observed = min(-(-self._count // self._step), length)
        values = self._values.view()[:: self._step][:length].copy()
        return Reading(values, np.arange(length) >= length - observed)


@dataclass(frozen=True)
class Readings:
    """Readings at N frames: `values` (N, length, ...) and `mask` (N, length), see `Reading`."""

    values: NDArray[Any]
    mask: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.mask)

    def __getitem__(self, frame: int) -> Reading:
        return Reading(self.values[frame], self.mask[frame])


def readings_of(
    positions: NDArray[np.float32], memory: Memory, grid: Grid | None = None
) -> Readings:
    """Return the readings at every frame of an episode (N, 13), rad. Each value is computed once.

    Raises:
        RuleSafeError: the positions are not (N, 13) or not finite.
    """
    grid = Sliding(length=memory.length) if grid is None else grid
    ends = ends_of(np.arange(len(positions)), grid)
    mask = ends >= 0
    values = memory.values_at(positions, np.arange(0, len(positions), grid.every))
    read = values[np.where(mask, ends // grid.every, 0)]
    read[~mask] = 0
    return Readings(read, mask)
