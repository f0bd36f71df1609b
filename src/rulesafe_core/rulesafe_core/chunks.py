"""Action chunks and their execution.

This module needs neither ROS nor the simulation, so that simulation and robot run the same code.
Times are integer nanoseconds of the ROS clock: sums and differences are exact, and an episode does
not depend on its start time. Example::

    executor = ChunkExecutor(LOWER, UPPER)
    executor.accept(make_chunk(ACTION_JOINTS, steps, stamp), now=stamp, command=HOME_ACTION)
    while not executor.done(now):
        now += 10_000_000
        command = executor.target(now, command)

Receding horizon: `ChunkExecutor(LOWER, UPPER, execute=25)` is done after 25 steps, when the next
chunk is due. `BlendingExecutor` follows the weighted mean of overlapping chunks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import ACTION_JOINTS, wrong_names

SECOND = 1_000_000_000
"""One second, ns."""

PERIOD = SECOND // 10
"""Time between two steps of a chunk at 10 Hz, ns."""

MAX_STEPS = 50
"""Number of steps of the longest chunk that the policies of this project publish."""

REPEAT_AFTER = 1.0
"""Wall time (s) after which a message that others still wait for is published again: it was lost,
and simulated time waits for it."""

AHEAD = SECOND // 2
"""Largest time (ns) by which a chunk's stamp may be ahead of the receiver's clock, since the clocks
of two machines differ."""


@dataclass(frozen=True)
class Chunk:
    """An action chunk of n steps.

    `stamp`: time of the observation it was computed from, ns. `times`: time of each step, ns.
    `steps`: joint targets of each step in rad, in the order of ACTION_JOINTS.
    """

    stamp: int
    times: NDArray[np.int64]  # (n,)
    steps: NDArray[np.float64]  # (n, 13)

    @property
    def end(self) -> int:
        """Time of the last step, ns."""
        return int(self.times[-1])


def make_chunk(
    joints: Sequence[str],
    steps: ArrayLike,
    stamp: int,
    offsets: Sequence[int] | None = None,
) -> Chunk:
    """Create a validated chunk.

    Args:
        joints: names of the 13 joints in the order of the columns of `steps`.
        steps: joint targets (n, 13), rad.
        stamp: time of the observation, ns.
        offsets: time from the stamp to each step (n,), ns; default: a step every 0.1 s.

    Raises:
        RuleSafeError: wrong joints or shape, non-finite values, or times that do not increase.
    """
    order = _order(joints)
    targets = np.asarray(steps, np.float64)
    if targets.ndim != 2 or targets.shape[1] != len(ACTION_JOINTS) or not len(targets):
        raise RuleSafeError(
            f"a chunk must have shape (n, 13) with n > 0 steps; got shape {targets.shape}"
        )
    finite = np.isfinite(targets)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise RuleSafeError(
            f"step {row} of the chunk is not finite for {joints[column]}: {targets[row, column]}"
        )
    if offsets is None:
        offsets = [PERIOD * (i + 1) for i in range(len(targets))]
    steps = np.asarray(offsets, np.int64)
    if steps.shape != (len(targets),):
        raise RuleSafeError(
            f"a chunk of {len(targets)} steps needs {len(targets)} times, got {steps.size}"
        )
    if steps[0] < 0 or (np.diff(steps) <= 0).any():
        raise RuleSafeError(
            "time_from_start of a chunk's points must not be negative and must increase; got "
            + ", ".join(f"{step / SECOND:g}" for step in steps[:6])
            + " s ..."
        )
    return Chunk(stamp, stamp + steps, targets[:, order])


def _order(joints: Sequence[str]) -> list[int]:
    if wrong := wrong_names(joints):
        raise RuleSafeError(f"a chunk must name the 13 joints {', '.join(ACTION_JOINTS)}; {wrong}")
    return [joints.index(name) for name in ACTION_JOINTS]


class ChunkExecutor:
    """Follows the newest chunk with linear interpolation in time between its steps.

    Each segment starts at the current command, which may lag behind the previous step if a velocity
    limit slows a joint; `Simulation.step` does the same. Steps are clipped to `lower` and `upper`;
    `clipped` counts the clipped steps since the last reset.

    Args:
        lower, upper: limits (13,) of the targets, rad.
        execute: number of steps after which the chunk is `done` and the next one is due; 0: all.
            The other steps are still followed if time advances and no newer chunk arrives.
        velocity: velocity limits (13,) of the targets, rad/s, for drives without limits;
            `Simulation.control` limits the velocity itself.
    """

    def __init__(
        self,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        execute: int = 0,
        velocity: ArrayLike = np.inf,
    ) -> None:
        if execute < 0:
            raise RuleSafeError(
                f"execute is {execute}; valid: 0 or more steps of a chunk (0: all steps)"
            )
        self._lower, self._upper, self._execute = lower, upper, execute
        # Finite, since infinite velocity times zero time would be NaN.
        self._velocity = np.minimum(np.asarray(velocity, np.float64), 1e9)
        if not (self._velocity > 0).all():
            raise RuleSafeError("the velocity limit of each joint must be above 0 rad/s")
        self.clipped = 0
        self._chunk: Chunk | None = None
        self._accepted: Chunk | None = None  # the running chunk as it was received
        self._next = 0  # index of the step at the end of the current segment
        self._segment_start = 0  # ns
        self._start_command = np.zeros(len(ACTION_JOINTS))  # command at the segment's start, rad
        self._knots = np.zeros(0, np.int64)  # times of the path, from that of acceptance on, ns
        self._knot_steps = self._start_command[None]  # from the command at acceptance on, rad
        self._last_time = 0  # time of the last target, ns
        self._earliest = 0  # oldest valid stamp, ns

    def reset(self, now: int) -> None:
        """Drop the chunk, and refuse chunks with observations from before `now` (ns)."""
        self._chunk = self._accepted = None
        self._earliest = now
        self.clipped = 0

    def accept(self, chunk: Chunk, now: int, command: NDArray[np.float64]) -> int:
        """Replace the running chunk by this one, and skip steps whose time has passed.

        Args:
            chunk: the new chunk.
            now: current time, ns.
            command: current command of the drives (13,), rad.

        Returns:
            The number of remaining steps.

        Raises:
            RuleSafeError: the chunk is stale, or its stamp is in the future.
        """
        if chunk.stamp < self._earliest:
            raise RuleSafeError(
                f"the chunk was computed from an observation at {_seconds(chunk.stamp)}, before "
                f"the episode began at {_seconds(self._earliest)}"
            )
        if self._chunk and chunk.stamp < self._chunk.stamp:
            raise RuleSafeError(
                f"the chunk was computed from an observation at {_seconds(chunk.stamp)}, older "
                f"than that of the running chunk at {_seconds(self._chunk.stamp)}"
            )
        if chunk.stamp > now + AHEAD:
            raise RuleSafeError(
                f"the chunk is stamped {_seconds(chunk.stamp)}, but the time is {_seconds(now)}: "
                "does its sender follow the same clock (use_sim_time)?"
            )
        first = int(np.searchsorted(chunk.times, now, side="right"))
        remaining = len(chunk.steps) - first
        if not remaining:
            raise RuleSafeError(
                f"the chunk ended at {_seconds(chunk.end)}, but the time is {_seconds(now)}: "
                "no step is left"
            )
        if self._accepted is not None and _equal(chunk, self._accepted):
            return remaining  # sent again: a second start would change the last bits of the path
        self._accepted = chunk
        steps = np.clip(chunk.steps, self._lower, self._upper)
        self.clipped += int((steps[first:] != chunk.steps[first:]).any(axis=1).sum())
        combined = self._combined(replace(chunk, steps=steps))
        # In single precision, in which executed actions are stored, so that a replay of them is
        # bit-identical.
        single = combined.steps.astype(np.float32).astype(np.float64)
        self._chunk, self._next = replace(combined, steps=single), first
        self._segment_start, self._start_command, self._last_time = now, command.copy(), now
        self._knots = np.concatenate(([now], self._chunk.times[first:]))
        self._knot_steps = np.concatenate((command[None], self._chunk.steps[first:]))
        return remaining

    def _combined(self, chunk: Chunk) -> Chunk:
        """Return the chunk to follow after a clipped chunk was accepted, with the same times."""
        return chunk

    def target(self, now: int, command: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the target (13,), rad, for the time `now` (ns), which must not decrease.

        `command` (13,) is the current command of the drives, rad; it is the target if there is no
        chunk. After the end of the chunk, the target stays at its last step.
        """
        chunk = self._chunk
        if chunk is None:
            return command.copy()
        # A segment ends at its step; the next segment starts at the command at that time.
        while self._next + 1 < len(chunk.steps) and chunk.times[self._next] < now:
            self._segment_start, self._start_command = int(chunk.times[self._next]), command.copy()
            self._next += 1
        duration = int(chunk.times[self._next]) - self._segment_start
        fraction = min(1.0, (now - self._segment_start) / duration)
        target = self._start_command + (chunk.steps[self._next] - self._start_command) * fraction
        reach = self._velocity * ((now - self._last_time) / SECOND)
        self._last_time = now
        # Joints below the limit keep the exact target: command + difference may round differently.
        fast = np.abs(target - command) > reach
        return np.where(fast, command + np.sign(target - command) * reach, target)

    def path(
        self, now: int, command: NDArray[np.float64], horizon: int = SECOND
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the targets from `now` (ns) on, for drives with an acceleration limit.

        The path begins at the command at which the chunk was accepted and is linear in time between
        the steps of the chunk. Unlike `target` it does not depend on a command that lags behind.

        Args:
            now: current time, ns.
            command: current command of the drives (13,), rad; the path if there is no chunk.
            horizon: time that the path covers at least if the chunk does, ns.

        Returns:
            Times (k,), s from now, beginning with 0, and targets (k, 13), rad. The target stays at
            the last one.
        """
        if self._chunk is None:
            return np.zeros(1), command[None]
        knots, steps = self._knots, self._knot_steps
        now = max(now, int(knots[0]))  # a clock may step back
        after = int(knots.searchsorted(now, "right"))
        if after == len(knots):
            return np.zeros(1), steps[-1:]
        end = int(knots.searchsorted(now + horizon)) + 1
        times = (knots[after - 1 : end] - now) / SECOND
        targets = steps[after - 1 : end].copy()
        targets[0] -= (targets[1] - targets[0]) * (times[0] / (times[1] - times[0]))
        times[0] = 0.0
        return times, targets

    @property
    def ahead(self) -> NDArray[np.float64]:
        """The remaining steps (n, 13), rad, including those after the first `execute` steps."""
        if self._chunk is None:
            return np.zeros((0, len(ACTION_JOINTS)))
        return self._chunk.steps[self._next :].copy()

    def done(self, now: int) -> bool:
        """Return whether the steps to execute have passed at `now` (ns): the next chunk is due."""
        if self._chunk is None:
            return True
        times = self._chunk.times
        return now >= int(times[min(self._execute or len(times), len(times)) - 1])


class BlendingExecutor(ChunkExecutor):
    """Follows the weighted mean of the chunks that overlap in time (temporal ensemble).

    The temporal ensemble of ACT (Zhao et al. 2023, "Learning Fine-Grained Bimanual Manipulation
    with Low-Cost Hardware"). The weight of a chunk is exp(-age / MEMORY), where `age` is the time
    from its observation to that of the newest chunk. ACT gives the oldest chunk the largest weight;
    here it is the newest, since an old chunk does not account for parts that slipped later. Older
    chunks are interpolated between their steps. If all steps are executed, chunks do not overlap
    and the result is that of `ChunkExecutor`.

    At most BLENDED chunks are blended, the newest ones, so that the work of `accept` does not grow
    if chunks are long and frequent. Of chunks of 50 steps, 5 overlap with inference every 12 steps
    and 10 with inference every 5 steps, so the bound has no effect there.
    """

    MEMORY = SECOND
    """Age (ns) at which the weight of a chunk is 1 / e."""

    BLENDED = 10
    """Maximum number of chunks that are blended, the new one included."""

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

    def _combined(self, chunk: Chunk) -> Chunk:
        # A repeated chunk, or another one from the same observation, replaces the previous one.
        past = [c for c in self._past if c.stamp < chunk.stamp and c.end > chunk.stamp]
        self._past = past[-(self.BLENDED - 1) :]
        weights = np.ones(len(chunk.times))
        total = chunk.steps.copy()
        for old in self._past:
            covered = (chunk.times >= old.times[0]) & (chunk.times <= old.end)
            weight = np.where(covered, np.exp(-(chunk.stamp - old.stamp) / self.MEMORY), 0.0)
            # Times relative to the old chunk's first step, so that they are exact as float64.
            times, knots = chunk.times - old.times[0], old.times - old.times[0]
            steps = np.stack([np.interp(times, knots, column) for column in old.steps.T], axis=1)
            total += weight[:, None] * steps
            weights += weight
        self._past.append(chunk)
        return replace(chunk, steps=total / weights[:, None])


EXECUTORS: dict[str, type[ChunkExecutor]] = {"newest": ChunkExecutor, "blended": BlendingExecutor}
"""Chunk executors by name."""


def load_executor(name: str) -> type[ChunkExecutor]:
    """Return an executor class by its name in EXECUTORS; raise RuleSafeError if it is unknown."""
    if name not in EXECUTORS:
        raise unknown_name("chunk executor", name, EXECUTORS)
    return EXECUTORS[name]


def _equal(one: Chunk, other: Chunk) -> bool:
    same_times = one.stamp == other.stamp and np.array_equal(one.times, other.times)
    return same_times and np.array_equal(one.steps, other.steps)


def _seconds(time: int) -> str:
    return f"{time / SECOND:.2f} s"
