"""Action chunks and their execution: what a policy sends, and the target of each instant.

No ROS and no simulation here, so that the simulation and the robot run the same code. Times are
integer nanoseconds of the graph's clock: sums and differences are exact, and an episode does not
depend on when it began. Example::

    executor = ChunkExecutor(LOWER, UPPER)
    executor.accept(make_chunk(ACTION_JOINTS, rows, stamp), now=stamp, command=HOME_ACTION)
    while not executor.done(now):
        now += 10_000_000
        command = executor.target(now, command)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_sim.errors import RuleSafeError
from rulesafe_sim.joints import ACTION_JOINTS

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
    """

    def __init__(self, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> None:
        self._lower, self._upper = lower, upper
        self.clipped = 0
        self._chunk: Chunk | None = None
        self._next = 0  # the row steered for
        self._since = 0  # start of the line to it, ns
        self._from = np.zeros(len(ACTION_JOINTS))  # command at that time, rad
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
        self._chunk, self._next = replace(chunk, rows=rows), first
        self._since, self._from = now, command.copy()
        return left

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
        return self._from + (chunk.rows[self._next] - self._from) * fraction

    def done(self, now: int) -> bool:
        """Whether no row of a chunk lies ahead of `now` (ns)."""
        return self._chunk is None or now >= self._chunk.end


def _seconds(time: int) -> str:
    return f"{time / SECOND:.2f} s"
