"""Resampling of joint states to the frames of an episode: 13 joints at 10 Hz, in a fixed order.

Frames are at the multiples of 0.1 s of the stamps' clock. A sample with such a stamp becomes a
frame without change; other frames are interpolated linearly between two samples. The simulation
publishes a sample at each frame, so that live frames equal those of a recording.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import action_values

OUT_OF_ORDER = PERIOD
"""Limit (ns) of the delay of a late sample. If a stamp is older, the clock jumped back."""

KEPT = SECOND
"""Age (ns) up to which samples are stored, in case the start of their episode arrives late."""

FOREIGN = 10 * SECOND
"""If an episode starts more than this (ns) after the samples, its stamp is of another clock."""


@dataclass(frozen=True)
class JointFrame:
    """Joint positions at one instant.

    Attributes:
        stamp: ns, a multiple of 0.1 s.
        position: (13,) float32, rad, in the order of ACTION_JOINTS.
        begins: why a new episode begins with this frame; empty if the last episode continues.
    """

    stamp: int
    position: NDArray[np.float32]
    begins: str = ""


@dataclass
class ResamplingCounts:
    """Numbers of samples, frames, and rejected samples by reason, since construction."""

    samples: int = 0
    frames: int = 0
    not_finite: int = 0
    duplicates: int = 0
    out_of_order: int = 0
    of_the_past_episode: int = 0


@dataclass(frozen=True)
class Sample:
    """Values (n,) at a stamp (ns)."""

    stamp: int
    values: NDArray[np.float64]


class Resampler:
    """Interpolates the samples of one episode linearly at the multiples of 0.1 s.

    A sample that is stamped with such an instant is not changed.

    Attributes:
        first: stamp of the first sample, ns; None before it.
        last: the newest sample; None before the first.
    """

    def __init__(self) -> None:
        self.first: int | None = None
        self.last: Sample | None = None
        self._due = 0  # ns, of the next frame

    def push(self, sample: Sample) -> list[Sample]:
        """Return the frames after the last sample up to this one, which must have a later stamp."""
        last, self.last = self.last, sample
        if last is None:
            self.first = sample.stamp
            self._due = -(-sample.stamp // PERIOD) * PERIOD
        frames = []
        while self._due <= sample.stamp:
            values = sample.values
            if last is not None and self._due < sample.stamp:
                share = (self._due - last.stamp) / (sample.stamp - last.stamp)
                values = last.values + share * (sample.values - last.values)
            frames.append(Sample(self._due, values))
            self._due += PERIOD
        return frames


@dataclass
class JointStream:
    """Converts joint state samples to frames, robustly:

    - Joints may be in any order and among others; a missing joint is an error.
    - Stamps may be irregular. A sample is ignored if its stamp is a duplicate or up to 0.1 s older
      than the newest.
    - A sample with NaN or infinity in one of the 13 joints is ignored.
    - A new episode begins after more than `max_gap` without a sample, or when the stamp jumps back
      further (a bag that is played again, a new simulation).
    - `start` sets the stamp at which an episode begins. The frames are the same whether it is
      called before the episode's samples or up to a second later, with old samples in between.

    Attributes:
        max_gap: maximum time between two samples of an episode, ns.
        clock_resets: number of times that the clock was reset. Equal stamps before and after such
            a reset belong to different episodes.
        missed: time (ns) from the start of the episode, as passed to `start`, to its first sample.
    """

    max_gap: int = SECOND // 2
    counts: ResamplingCounts = field(default_factory=ResamplingCounts)
    clock_resets: int = field(default=0, init=False)
    missed: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.max_gap < 1:
            raise RuleSafeError(f"max_gap must be above 0 ns, got {self.max_gap}")
        self._newest: int | None = None  # stamp of the newest sample, ns
        self._start: int | None = None  # stamp passed to `start`, ns
        self._announced = False  # whether `start` was called after the newest sample
        self._kept: deque[Sample] = deque()
        self._begin("the first joint states")

    def _begin(self, reason: str) -> None:
        self._resampler = Resampler()
        self._reason = reason
        self._starting = False  # whether `start` began this episode, which has no sample yet

    @property
    def started(self) -> int | None:
        """Stamp (ns) of the last call of `start`; None if there was none since a reset of the
        clock."""
        return self._start

    @property
    def pending(self) -> bool:
        """Whether the current episode has no sample yet."""
        return self._resampler.last is None

    @property
    def incomplete(self) -> str:
        """Return why the frames do not begin with the episode; empty if they do."""
        if self.missed <= PERIOD:
            return ""
        return (
            f"no joint states of the first {self.missed / SECOND:.2f} s of this episode were "
            "received: the memory lacks them until the next episode"
        )

    def restart(self, reason: str) -> None:
        """Discard all samples; the next one begins an episode."""
        self._kept.clear()
        self.missed = 0
        self._begin(reason)

    def start(self, stamp: int) -> list[JointFrame]:
        """Begin an episode at this stamp (ns), and return its frames so far.

        If all samples of the current episode are later, it is the episode that is meant: a stream
        that was created during an episode may receive samples first. It continues, and `missed` is
        set. A call with the same stamp as the last one has no effect.

        A simulation that was restarted may start an episode at the same or an earlier stamp. Its
        samples jump back, except in the first 0.1 s. There, the call itself is taken as a restart,
        and all samples are discarded.
        """
        last_start, first = self._start, self._resampler.first
        age = None if self._newest is None else self._newest - stamp
        other_clock = last_start is not None and stamp < last_start
        self._start, self._announced = stamp, True
        if (other_clock or stamp == last_start) and age is not None and 0 <= age <= OUT_OF_ORDER:
            self._newest = None
            self._reset_clock("the simulation was restarted")
            return []
        if stamp == last_start:
            return []
        if first is not None and stamp <= first and not other_clock:
            self.missed = first - stamp
            return []
        self._begin("a new episode")
        self.missed, self._starting = 0, True
        samples = [s for s in self._kept if stamp <= s.stamp and not other_clock]
        return [frame for sample in samples for frame in self._frames(sample)]

    def push(self, stamp: int, names: Sequence[str], positions: Any) -> list[JointFrame]:
        """Return the frames that a sample completes: none, one, or several after a gap.

        Args:
            stamp: ns.
            names: the joints' names.
            positions: (len(names),) rad.

        Raises:
            RuleSafeError: one of the 13 joints is missing, named twice or not finite, or there are
                other numbers of names and positions. The sample is ignored.
        """
        self.counts.samples += 1
        position = action_values(names, positions)
        if not np.isfinite(position).all():
            self.counts.not_finite += 1
            raise RuleSafeError("joint states have a position that is not finite")
        if not self._in_order(stamp):
            return []
        self._newest, self._announced = stamp, False
        if self._start is not None and stamp < self._start:
            if self._start - stamp <= FOREIGN:
                self.counts.of_the_past_episode += 1
                return []
            self._start = None
        sample = Sample(stamp, position)
        while self._kept and self._kept[0].stamp < stamp - KEPT:
            self._kept.popleft()
        self._kept.append(sample)
        return self._frames(sample)

    def _in_order(self, stamp: int) -> bool:
        """Return whether to use a sample; restart the stream if the clock has jumped back."""
        if self._newest is None or stamp > self._newest:
            return True
        if stamp == self._newest:
            self.counts.duplicates += 1
            return False
        back = self._newest - stamp
        if back <= OUT_OF_ORDER:
            self.counts.out_of_order += 1
            return False
        if not self._announced or stamp != self._start:  # the last start was on the old clock
            self._start = None
        self._reset_clock(f"the clock jumped back by {back / SECOND:.2f} s")
        return True

    def _reset_clock(self, reason: str) -> None:
        self.clock_resets += 1
        self.restart(reason)

    def _frames(self, sample: Sample) -> list[JointFrame]:
        """Return the frames after the last sample up to this one."""
        last = self._resampler.last
        if self._starting and self._start is not None:
            self.missed, self._starting = sample.stamp - self._start, False
        if last is not None and sample.stamp - last.stamp > self.max_gap:
            gap = (sample.stamp - last.stamp) / SECOND
            self._begin(f"no joint states for {gap:.2f} s")
        frames = []
        for found in self._resampler.push(sample):
            frames.append(JointFrame(found.stamp, found.values.astype(np.float32), self._reason))
            self._reason = ""
        self.counts.frames += len(frames)
        return frames
