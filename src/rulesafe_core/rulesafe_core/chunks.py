"""Action chunks and their execution: what a policy sends, and the target of each instant.

No ROS and no simulation here, so that the simulation and the robot run the same code. Times are
integer nanoseconds of the graph's clock: sums and differences are exact, and an episode does not
depend on when it began. Example::

    executor = ChunkExecutor(LOWER, UPPER)
    executor.accept(make_chunk(ACTION_JOINTS, rows, stamp), now=stamp, command=HOME_ACTION)
    while not executor.done(now):
        now += 10_000_000
        command = executor.target(now, command)

Receding horizon: `ChunkExecutor(LOWER, UPPER, execute=25)` asks for the next chunk after 25 rows,
and `BlendingExecutor` steers for the weighted mean of the chunks that overlap.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import ACTION_JOINTS

SECOND = 1_000_000_000
"""ns"""

PERIOD = SECOND // 10
"""Time between two rows of a chunk at 10 Hz, ns."""

MAX_ROWS = 50
"""Rows of the longest chunk that a policy of this project sends."""

AHEAD = SECOND // 2
"""A chunk may begin this long (ns) after the receiver's clock: two machines' clocks differ."""


@dataclass(frozen=True)
class Chunk:
    """Targets (n, 13) in rad, order of ACTION_JOINTS, for the times (n,) in ns; `stamp` (ns) is
    that of the observation they rest on."""

    stamp: int
    times: NDArray[np.int64]
    rows: NDArray[np.float64]

    @property
    def end(self) -> int:
        """Time of the last row, ns."""
        return int(self.times[-1])


def make_chunk(
    joints: Sequence[str],
    rows: ArrayLike,
    stamp: int,
    offsets: Sequence[int] | None = None,
) -> Chunk:
    """A checked chunk from rows (n, 13) in rad whose columns are named by `joints`, in any order.

    `offsets` (n,): ns from the stamp to each row; every 0.1 s if not given. Errors: RuleSafeError
    for joints that are not the 13, a wrong shape, a value that is not finite, and times that do
    not increase.
    """
    order = _order(joints)
    targets = np.asarray(rows, np.float64)
    if targets.ndim != 2 or targets.shape[1] != len(ACTION_JOINTS) or not len(targets):
        raise RuleSafeError(
            f"a chunk has shape (n, 13) with n > 0, one row a point; got shape {targets.shape}"
        )
    finite = np.isfinite(targets)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise RuleSafeError(
            f"row {row} of the chunk is not finite for {joints[column]}: {targets[row, column]}"
        )
    if offsets is None:
        offsets = [PERIOD * (i + 1) for i in range(len(targets))]
    steps = np.asarray(offsets, np.int64)
    if steps.shape != (len(targets),):
        raise RuleSafeError(f"{len(targets)} rows need as many times, got {steps.size}")
    if steps[0] < 0 or (np.diff(steps) <= 0).any():
        raise RuleSafeError(
            "the times from start of a chunk's points must not be negative and must increase; got "
            + ", ".join(f"{step / SECOND:g}" for step in steps[:6])
            + " s ..."
        )
    return Chunk(stamp, stamp + steps, targets[:, order])


def _order(joints: Sequence[str]) -> list[int]:
    missing = [name for name in ACTION_JOINTS if name not in joints]
    unknown = [name for name in joints if name not in ACTION_JOINTS]
    if missing or unknown or len(joints) != len(ACTION_JOINTS):
        wrong = [f"missing {', '.join(missing)}"] if missing else []
        wrong += [f"not among them {', '.join(unknown)}"] if unknown else []
        wrong += [] if wrong else ["some named twice"]
        raise RuleSafeError(
            f"a chunk names the 13 joints {', '.join(ACTION_JOINTS)}; {'; '.join(wrong)}"
        )
    return [joints.index(name) for name in ACTION_JOINTS]


class ChunkExecutor:
    """Follows the newest chunk: straight lines in time from row to row.

    Each line starts at the command of that moment, which may lag behind the last row where a
    joint's velocity limit holds it back; `Simulation.step` does the same. Rows are clipped to
    `lower` and `upper` (13,), rad; `clipped` counts those that were, since the reset.

    Args:
        lower, upper: limits (13,) of the targets, rad.
        execute: rows of a chunk after which it is `done` and the next one is due; 0: all. Where
            time goes on without a newer chunk, its other rows are followed all the same.
        velocity: limits (13,), rad/s, of what `target` may differ from the command by, for drives
            that have none of their own. `Simulation.control` has.
    """

    def __init__(
        self,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        execute: int = 0,
        velocity: ArrayLike = np.inf,
    ) -> None:
        if execute < 0:
            raise RuleSafeError(f"of a chunk 1 row or more is executed (0: all), not {execute}")
        self._lower, self._upper, self._execute = lower, upper, execute
        # Finite, since no time at all at infinite speed would be NaN.
        self._velocity = np.minimum(np.asarray(velocity, np.float64), 1e9)
        if not (self._velocity > 0).all():
            raise RuleSafeError("a joint's velocity limit must be above 0 rad/s")
        self.clipped = 0
        self._chunk: Chunk | None = None
        self._next = 0  # the row steered for
        self._since = 0  # start of the line to it, ns
        self._from = np.zeros(len(ACTION_JOINTS))  # command at that time, rad
        self._moved = 0  # time of the last target, ns
        self._earliest = 0

    def reset(self, now: int) -> None:
        """Drops the chunk; chunks that rest on observations from before `now` (ns) are stale."""
        self._chunk = None
        self._earliest = now
        self.clipped = 0

    def accept(self, chunk: Chunk, now: int, command: NDArray[np.float64]) -> int:
        """Follow this chunk from `now` (ns) instead of the rest of the running one.

        `command` (13,), rad: what the drives follow now. Rows whose time has passed are dropped.
        Gives the number of rows that are left. Errors: RuleSafeError for a stale chunk.
        """
        if chunk.stamp < self._earliest:
            raise RuleSafeError(
                f"the chunk rests on an observation at {_seconds(chunk.stamp)}, before the episode "
                f"began at {_seconds(self._earliest)}"
            )
        if self._chunk and chunk.stamp < self._chunk.stamp:
            raise RuleSafeError(
                f"the chunk rests on an observation at {_seconds(chunk.stamp)}, older than the "
                f"running one's at {_seconds(self._chunk.stamp)}"
            )
        if chunk.stamp > now + AHEAD:
            raise RuleSafeError(
                f"the chunk is stamped {_seconds(chunk.stamp)}, but it is {_seconds(now)}: does "
                "its sender follow the same clock (use_sim_time)?"
            )
        first = int(np.searchsorted(chunk.times, now, side="right"))
        left = len(chunk.rows) - first
        if not left:
            raise RuleSafeError(
                f"the chunk ended at {_seconds(chunk.end)} and it is {_seconds(now)}: no row left"
            )
        rows = np.clip(chunk.rows, self._lower, self._upper)
        self.clipped += int((rows[first:] != chunk.rows[first:]).any(axis=1).sum())
        self._chunk, self._next = self._followed(replace(chunk, rows=rows)), first
        self._since, self._from, self._moved = now, command.copy(), now
        return left

    def _followed(self, chunk: Chunk) -> Chunk:
        """What is followed from an accepted chunk on, clipped already: rows for the same times."""
        return chunk

    def target(self, now: int, command: NDArray[np.float64]) -> NDArray[np.float64]:
        """Target (13,), rad, for the time `now` (ns), which never runs backwards; `command` (13,)
        is what the drives have followed so far. Without a chunk, or after it: stay."""
        chunk = self._chunk
        if chunk is None:
            return command.copy()
        # A line ends at its row; a call past that starts the next one where the command is then.
        while self._next + 1 < len(chunk.rows) and chunk.times[self._next] < now:
            self._since, self._from = int(chunk.times[self._next]), command.copy()
            self._next += 1
        span = int(chunk.times[self._next]) - self._since
        fraction = min(1.0, (now - self._since) / span)
        target = self._from + (chunk.rows[self._next] - self._from) * fraction
        reach = self._velocity * ((now - self._moved) / SECOND)
        self._moved = now
        # As it is where nothing is too fast: a difference added again may round to another number.
        fast = np.abs(target - command) > reach
        return np.where(fast, command + np.sign(target - command) * reach, target)

    @property
    def ahead(self) -> NDArray[np.float64]:
        """The rows (n, 13) that are followed from here on, rad, whatever is to be executed."""
        if self._chunk is None:
            return np.zeros((0, len(ACTION_JOINTS)))
        return self._chunk.rows[self._next :].copy()

    def done(self, now: int) -> bool:
        """Whether the next chunk is due at `now` (ns): the rows to execute lie behind it."""
        if self._chunk is None:
            return True
        times = self._chunk.times
        return now >= int(times[min(self._execute or len(times), len(times)) - 1])


class BlendingExecutor(ChunkExecutor):
    """Follows the weighted mean of all chunks that have something to say of an instant.

    The temporal ensemble of ACT (Zhao et al. 2023, "Learning Fine-Grained Bimanual Manipulation
    with Low-Cost Hardware"): a chunk's weight is exp(-age / MEMORY), `age` being how much older its
    observation is than the newest chunk's. There the oldest weigh most; here the newest, since an
    old chunk knows nothing of a part that has slipped since. Between two of its rows an older chunk
    is interpolated. With all rows executed nothing overlaps, and it is a `ChunkExecutor`.
    """

    MEMORY = SECOND
    """Age (ns) at which a chunk's weight has fallen to 1 / e."""

    def __init__(
        self,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        execute: int = 0,
        velocity: ArrayLike = np.inf,
    ) -> None:
        super().__init__(lower, upper, execute, velocity)
        self._past: list[Chunk] = []

    def reset(self, now: int) -> None:
        super().reset(now)
        self._past = []

    def _followed(self, chunk: Chunk) -> Chunk:
        # A chunk that comes again, or another one from the same observation, replaces the first.
        self._past = [c for c in self._past if c.stamp < chunk.stamp and c.end > chunk.stamp]
        weights = np.ones(len(chunk.times))
        total = chunk.rows.copy()
        for old in self._past:
            known = (chunk.times >= old.times[0]) & (chunk.times <= old.end)
            weight = np.where(known, np.exp(-(chunk.stamp - old.stamp) / self.MEMORY), 0.0)
            # Times from the old chunk's first row on, so that they are exact as float64.
            at, knots = chunk.times - old.times[0], old.times - old.times[0]
            rows = np.stack([np.interp(at, knots, column) for column in old.rows.T], axis=1)
            total += weight[:, None] * rows
            weights += weight
        self._past.append(chunk)
        return replace(chunk, rows=total / weights[:, None])


EXECUTORS: dict[str, type[ChunkExecutor]] = {"newest": ChunkExecutor, "blended": BlendingExecutor}
"""How chunks are executed, by name."""


def load_executor(name: str) -> type[ChunkExecutor]:
    """The executor of that name in EXECUTORS. Errors: RuleSafeError, listing the names."""
    if name not in EXECUTORS:
        raise unknown_name("way of executing chunks", name, EXECUTORS)
    return EXECUTORS[name]


def _seconds(time: int) -> str:
    return f"{time / SECOND:.2f} s"
