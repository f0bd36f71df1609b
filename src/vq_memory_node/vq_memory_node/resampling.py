"""Joint states as they come, to the frames of an episode: 10 Hz, 13 joints, in one order.

Frames are the multiples of 0.1 s of the stamps' clock, from the first that was seen on. A sample
stamped with such an instant is taken as it is; between two samples the frame is interpolated
linearly. In simulation every frame has its sample, so that frames are those of the recording.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS

OUT_OF_ORDER = PERIOD
"""A stamp up to this far (ns) behind the newest is of a late sample; further, the clock jumped."""

KEPT = SECOND
"""The samples of this long (ns) are kept, for an episode whose start is told a little late."""

FOREIGN = 10 * SECOND
"""An episode that starts this far (ns) ahead of the samples is one of another clock."""


@dataclass(frozen=True)
class JointFrame:
    """Joint positions at one instant.

    Attributes:
        stamp: ns, a multiple of 0.1 s.
        position: (13,) float32, rad, in the order of ACTION_JOINTS.
        begins: why a new episode begins with this frame; empty where the last one goes on.
    """

    stamp: int
    position: NDArray[np.float32]
    begins: str = ""


@dataclass
class ResamplingCounts:
    """What came in and what was left out, since the stream was made."""

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
    """Interpolate the samples of one episode linearly at the multiples of 0.1 s.

    A sample that is stamped with such an instant is taken as it is.

    Attributes:
        last: the newest sample; None before the first.
    """

    def __init__(self) -> None:
        self.last: Sample | None = None
        self._due = 0  # ns, of the next frame

    def push(self, sample: Sample) -> list[Sample]:
        """Return the frames after the last sample, up to this one, which must be later."""
        last, self.last = self.last, sample
        if last is None:
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
    """Samples in, frames out. What it does with what is not in order:

    - joints may come in any order and among others; a missing one is an error that names it;
    - stamps may be irregular; one that was seen already, or lies up to 0.1 s behind the newest, is
      left out;
    - NaN or infinity in one of the 13 joints: the sample is left out;
    - more than `max_gap` without a sample, or a stamp further back (a bag that starts over, a new
      simulation): a new episode begins;
    - `start` says at which stamp an episode begins. It may come before that episode's samples or up
      to a second after them, and old samples may still follow: the frames are the same.

    Attributes:
        max_gap: ns between two samples, at most.
    """

    max_gap: int = SECOND // 2
    counts: ResamplingCounts = field(default_factory=ResamplingCounts)

    def __post_init__(self) -> None:
        if self.max_gap < 1:
            raise RuleSafeError(f"the longest gap must be above 0 ns, got {self.max_gap}")
        self._names: tuple[str, ...] = ()
        self._columns: list[int] = []
        self._newest: int | None = None  # stamp of the newest sample, ns
        self._start: int | None = None  # what `start` said, ns
        self._kept: deque[Sample] = deque()
        self._begin("the first joint states")

    def _begin(self, reason: str) -> None:
        self._resampler = Resampler()
        self._reason = reason

    @property
    def started(self) -> int | None:
        """What `start` said last of the present clock, ns."""
        return self._start

    def restart(self, reason: str) -> None:
        """The next sample begins an episode; what came before is forgotten."""
        self._kept.clear()
        self._begin(reason)

    def start(self, stamp: int) -> list[JointFrame]:
        """An episode starts at this stamp (ns): the frames that are known of it. Told twice, it is
        still one start: no frames."""
        if stamp == self._start:
            return []
        self._start = stamp
        self._begin("a new episode")
        seen = [s for s in self._kept if stamp <= s.stamp <= stamp + KEPT]
        return [frame for sample in seen for frame in self._frames(sample)]

    def push(self, stamp: int, names: Sequence[str], positions: Any) -> list[JointFrame]:
        """The frames that a sample completes: none, one, or those of a gap.

        Args:
            stamp: ns.
            names: the joints' names.
            positions: (len(names),) rad.

        Errors: RuleSafeError if one of the 13 joints is missing or named twice, or if there is not
        one position for each name. The sample is left out.
        """
        self.counts.samples += 1
        position = self._sorted(names, positions)
        if not np.isfinite(position).all():
            self.counts.not_finite += 1
            return []
        if not self._in_order(stamp):
            return []
        self._newest = stamp
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

    def _sorted(self, names: Sequence[str], positions: Any) -> NDArray[np.float64]:
        """The 13 joints' positions in our order."""
        if len(positions) != len(names):
            raise RuleSafeError(f"{len(names)} joints with {len(positions)} positions")
        if tuple(names) != self._names:  # looked up only where the order changes
            names = tuple(names)
            counts = {joint: names.count(joint) for joint in ACTION_JOINTS}
            if missing := [joint for joint, count in counts.items() if not count]:
                raise RuleSafeError(
                    f"joint states without {', '.join(missing)}; they have: {', '.join(names)}"
                )
            if twice := [joint for joint, count in counts.items() if count > 1]:
                raise RuleSafeError(f"joint states that name {', '.join(twice)} more than once")
            self._names = names
            self._columns = [names.index(joint) for joint in ACTION_JOINTS]
        return np.asarray(positions, np.float64)[self._columns]

    def _in_order(self, stamp: int) -> bool:
        """Whether the sample is newer than the newest, by a clock that may have jumped."""
        if self._newest is None or stamp > self._newest:
            return True
        if stamp == self._newest:
            self.counts.duplicates += 1
            return False
        back = self._newest - stamp
        if back <= OUT_OF_ORDER:
            self.counts.out_of_order += 1
            return False
        self._start = None
        self.restart(f"the clock jumped back by {back / SECOND:.2f} s")
        return True

    def _frames(self, sample: Sample) -> list[JointFrame]:
        """The frames after the last sample, up to this one."""
        last = self._resampler.last
        if last is not None and sample.stamp - last.stamp > self.max_gap:
            gap = (sample.stamp - last.stamp) / SECOND
            self._begin(f"no joint states for {gap:.2f} s")
        frames = []
        for found in self._resampler.push(sample):
            frames.append(JointFrame(found.stamp, found.values.astype(np.float32), self._reason))
            self._reason = ""
        self.counts.frames += len(frames)
        return frames
