"""Readings of a memory, frame by frame in a running episode or for all frames of a stored one.

Both give bit-identical readings, because a value depends on its window only. If not every frame is
a keyframe (`Memory.is_keyframe`), a grid counts keyframes instead of frames.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vq_memory_node.grids import Grid, Sliding, ends_of
from vq_memory_node.memory import WIDTHS, Memory, Reading


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

    Values that slide with the current frame are computed when they are read for the first time: a
    policy that reads every 12 frames needs one in four.

    Args:
        memory: computes a value from a window.
        grid: frames at which the windows end; by default `grid_of(memory)`.
    """

    def __init__(self, memory: Memory, grid: Grid | None = None) -> None:
        self.memory = memory
        self.grid = grid_of(memory) if grid is None else grid
        self._step = self.grid.stride // self.grid.every
        self._span = (self.grid.length - 1) * self._step + 1
        self._when_read = memory.timed and self._step > 1
        frames = memory.window + max(self._span * self.grid.every - 1, 0) * self._when_read
        self._inputs = _RingBuffer(np.zeros((frames, WIDTHS[memory.input]), np.float32))
        self.reset()

    def reset(self) -> None:
        """Clear all values; the next frame is the first of an episode."""
        self._values: dict[int, Any] = {}
        self._frames = self._keyframes = self._count = 0

    def push(self, observed: NDArray[Any]) -> bool:
        """Add the next frame's input of the memory: joint positions (13,), finite, rad, by default.

        Returns:
            Whether a new value was added to what `read` returns.
        """
        if not self._frames:
            self._inputs.fill(observed)  # before the first frame the robot was at the same pose
        self._inputs.add(observed)
        self._frames += 1
        if not (self.memory.timed or self.memory.is_keyframe(self._window(self._frames - 1))):
            return False
        due = self.grid.length > 0 and self._keyframes % self.grid.every == 0
        self._keyframes += 1
        if due:
            if not self._when_read:
                self._values[self._count] = self.memory.checked_value(
                    self._window(self._frames - 1)
                )
            self._values.pop(self._count - self._span, None)
            self._count += 1
        return due

    def read(self) -> Reading:
        """Return the current values."""
        length = self.grid.length
        values, mask = self.memory.zeros(length), np.zeros(length, np.bool_)
        ends = range(self._count - 1, -1, -self._step)
        for place, end in zip(range(length - 1, -1, -1), ends, strict=False):
            if end not in self._values:
                self._values[end] = self.memory.checked_value(self._window(end * self.grid.every))
            values[place], mask[place] = self._values[end], True
        return Reading(values, mask)

    def _window(self, frame: int) -> NDArray[np.float32]:
        """Return a copy of the window (memory.window, width) that ends with a frame."""
        inputs = self._inputs.view()
        end = len(inputs) - (self._frames - 1 - frame)
        return inputs[end - self.memory.window : end].copy()


@dataclass(frozen=True)
class Readings:
    """Readings at N frames: `values` (N, length, ...) and `mask` (N, length), see `Reading`."""

    values: NDArray[Any]
    mask: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.mask)

    def __getitem__(self, frame: int) -> Reading:
        return Reading(self.values[frame], self.mask[frame])


def grid_of(memory: Memory) -> Grid:
    """Return the grid that policies use: `memory.length` windows, `memory.stride` keyframes apart,
    that end with the newest keyframe."""
    return Sliding(memory.stride, memory.length)


def readings_of(inputs: NDArray[np.float32], memory: Memory, grid: Grid | None = None) -> Readings:
    """Return the readings at every frame of an episode of the memory's input, by default joint
    positions (N, 13), rad. Each value is computed once.

    Raises:
        RuleSafeError: the inputs have another shape or are not finite.
    """
    grid = grid_of(memory) if grid is None else grid
    keyframes = memory.keyframes(inputs)
    ends = ends_of(newest_keyframes(keyframes, len(inputs)), grid)
    mask = ends >= 0
    values = memory.values_at(inputs, keyframes[:: grid.every])
    values = np.concatenate([values, memory.zeros(1)])  # for an episode without keyframes
    read = values[np.where(mask, ends // grid.every, 0)]
    read[~mask] = 0
    return Readings(read, mask)


def newest_keyframes(keyframes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the index of the newest of the keyframes (K,) at each of `count` frames; -1: none."""
    return np.searchsorted(keyframes, np.arange(count), side="right") - 1
