"""The rolling memory: at each frame of an episode, what a policy is told of the past.

Windows end at instants on a grid, and the memory holds one value for each of the last LENGTH of
them. A memory is fed frame by frame (`push`, `read`), or asked for a whole episode at once
(`memory_of`); both give the same, to the bit, since a token is always that of one window.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.grids import Grid, Sliding, ends_of
from vq_memory_node.tokenizers import Tokenizer


@dataclass(frozen=True)
class Reading:
    """What a memory tells at one frame, oldest first; `length` is the grid's (0: no memory).

    Attributes:
        values: (length,) int64 tokens, or (length, 13) float32 joint positions in rad; 0 where
            nothing was observed.
        mask: (length,) bool, True where it was observed. The observed ones are the last.
    """

    values: NDArray[Any]
    mask: NDArray[np.bool_]


@dataclass(frozen=True)
class Readings:
    """The readings at N frames: `values` (N, length, ...) and `mask` (N, length), see Reading."""

    values: NDArray[Any]
    mask: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.mask)

    def __getitem__(self, frame: int) -> Reading:
        return Reading(self.values[frame], self.mask[frame])


class Memory(Protocol):
    """A memory of one episode at a time."""

    @property
    def grid(self) -> Grid: ...

    def reset(self) -> None:
        """Forgets everything: the next frame is the first of an episode."""
        ...

    def push(self, position: NDArray[Any]) -> bool:
        """Takes the next frame's joint positions (13,), rad. Whether `read` has something new.

        Errors: RuleSafeError if they are not 13 finite numbers; the memory stays as it was.
        """
        ...

    def read(self) -> Reading:
        """What there is to know now: a copy."""
        ...

    def values_at(self, positions: NDArray[np.float32], frames: NDArray[np.int64]) -> NDArray[Any]:
        """The value of the window that ends at each of `frames` (F,) of an episode (N, 13)."""
        ...


class _Recent:
    """The last `size` rows that were added, as one contiguous view, oldest first.

    Each row is written twice, half a buffer apart, so that some `size` rows in sequence are always
    the last ones: adding costs the same every time, and nothing is ever moved.
    """

    def __init__(self, size: int, shape: tuple[int, ...], kind: type) -> None:
        self._size = size
        self._rows: NDArray[Any] = np.zeros((2 * size, *shape), kind)
        self._next = 0

    def add(self, row: Any) -> None:
        at = self._next
        self._rows[at] = self._rows[at + self._size] = row
        self._next = (at + 1) % self._size

    def fill(self, row: Any) -> None:
        self._rows[:] = row

    def view(self) -> NDArray[Any]:
        return self._rows[self._next : self._next + self._size]


def _checked(position: NDArray[Any]) -> NDArray[np.float32]:
    position = np.asarray(position, np.float32)
    if position.shape != (len(ACTION_JOINTS),) or not np.isfinite(position).all():
        raise RuleSafeError(
            f"a frame is {len(ACTION_JOINTS)} finite joint positions in rad, got {position}"
        )
    return position


class _Rolling:
    """Frames in, one value each `grid.every` frames, the last ones out."""

    def __init__(self, grid: Grid, shape: tuple[int, ...], kind: type) -> None:
        self._grid = grid
        self._step = grid.stride // grid.every
        self._values = _Recent(max((grid.length - 1) * self._step + 1, 1), shape, kind)
        self._frames = 0
        self._count = 0  # values so far

    @property
    def grid(self) -> Grid:
        return self._grid

    def reset(self) -> None:
        self._values.fill(0)
        self._frames = self._count = 0

    def push(self, position: NDArray[Any]) -> bool:
        position = _checked(position)
        due = self._frames % self._grid.every == 0
        self._see(position)
        self._frames += 1
        if due:
            self._values.add(self._value(position))
            self._count += 1
        return due

    def read(self) -> Reading:
        length = self._grid.length
        observed = min(-(-self._count // self._step), length)
        values = self._values.view()[:: self._step][:length].copy()
        return Reading(values, np.arange(length) >= length - observed)

    def _see(self, position: NDArray[np.float32]) -> None:
        """Takes note of each frame, whether it yields a value or not."""

    def _value(self, position: NDArray[np.float32]) -> Any:
        raise NotImplementedError


class VqMemory(_Rolling):
    """One token for each window. Errors: RuleSafeError if the tokenizer is for other joints."""

    def __init__(self, tokenizer: Tokenizer, grid: Grid | None = None) -> None:
        super().__init__(Sliding() if grid is None else grid, (), np.int64)
        if tuple(tokenizer.joints) != ACTION_JOINTS:
            raise RuleSafeError(
                f"a tokenizer for other joints: {', '.join(tokenizer.joints)}; "
                f"expected: {', '.join(ACTION_JOINTS)}"
            )
        self.tokenizer = tokenizer
        self._window = _Recent(tokenizer.window, (len(ACTION_JOINTS),), np.float32)

    def _see(self, position: NDArray[np.float32]) -> None:
        if not self._frames:
            self._window.fill(position)  # as if the robot had always stood there
        self._window.add(position)

    def _value(self, position: NDArray[np.float32]) -> int:
        return self.tokenizer.token(self._window.view())

    def values_at(
        self, positions: NDArray[np.float32], frames: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        return tokens_at(positions, frames, self.tokenizer)


class RawMemory(_Rolling):
    """The joint positions at the same instants, unencoded."""

    def __init__(self, grid: Grid | None = None) -> None:
        super().__init__(Sliding() if grid is None else grid, (len(ACTION_JOINTS),), np.float32)

    def _value(self, position: NDArray[np.float32]) -> NDArray[np.float32]:
        return position

    def values_at(
        self, positions: NDArray[np.float32], frames: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        return positions[frames]


class NoMemory:
    """Nothing: readings of length 0."""

    @property
    def grid(self) -> Grid:
        return Sliding(length=0)

    def reset(self) -> None:
        pass

    def push(self, position: NDArray[Any]) -> bool:
        _checked(position)
        return False

    def read(self) -> Reading:
        return Reading(np.zeros(0, np.int64), np.zeros(0, np.bool_))

    def values_at(
        self, positions: NDArray[np.float32], frames: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        return np.zeros(len(frames), np.int64)


# Whole episodes -----------------------------------------------------------------------------


def memory_of(positions: NDArray[np.float32], memory: Memory) -> Readings:
    """The readings at every frame of an episode (N, 13), rad: what pushing frame by frame into the
    reset memory would give. What the memory holds stays as it is. Each value is computed once.

    Errors: RuleSafeError if the positions are not (N, 13) or not finite.
    """
    positions = _episode(positions)
    grid = memory.grid
    ends = ends_of(np.arange(len(positions)), grid)
    mask = ends >= 0
    values = memory.values_at(positions, np.arange(0, len(positions), grid.every))
    if not len(values):
        return Readings(np.zeros(ends.shape, values.dtype), mask)
    read = values[np.where(mask, ends // grid.every, 0)]
    read[~mask] = 0
    return Readings(read, mask)


def tokens_of(positions: NDArray[np.float32], tokenizer: Tokenizer) -> NDArray[np.int64]:
    """The token (N,) of the window that ends at each frame of an episode (N, 13), rad. The sliding
    memory at any frame is an index into it (`ends_of`).

    Errors: RuleSafeError if the positions are not (N, 13) or not finite.
    """
    return tokens_at(positions, np.arange(len(positions)), tokenizer)


def tokens_at(
    positions: NDArray[np.float32], frames: NDArray[np.int64], tokenizer: Tokenizer
) -> NDArray[np.int64]:
    """The token of the window that ends at each of `frames` (F,). Errors: as `tokens_of`."""
    positions = _episode(positions)
    size = tokenizer.window
    first = np.repeat(positions[:1], size - 1, axis=0)
    padded = np.concatenate([first, positions])
    return np.array([tokenizer.token(padded[end : end + size]) for end in frames], np.int64)


def _episode(positions: NDArray[Any]) -> NDArray[np.float32]:
    positions = np.ascontiguousarray(positions, np.float32)
    if positions.ndim != 2 or positions.shape[1] != len(ACTION_JOINTS):
        raise RuleSafeError(
            f"an episode is (N, {len(ACTION_JOINTS)}) joint positions, got {positions.shape}"
        )
    if not np.isfinite(positions).all():
        raise RuleSafeError("an episode's joint positions must be finite")
    return positions
