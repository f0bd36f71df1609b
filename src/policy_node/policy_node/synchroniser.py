"""What comes in at its own times, put together by stamps to what a policy sees at one frame.

Frames are the multiples of 0.1 s of the stamps' clock, as the memory has them. Joint states make
the frames (between two of them a frame is interpolated); a picture or a cloud belongs to the frame
that is nearest to its stamp, within a tolerance; a memory's reading to the frame of its stamp.
No ROS here. In simulation every frame has all of its parts at its very instant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_node.history import KEPT, ObservationHistory
from policy_node.policy import CAMERAS, Needs, Observation
from rulesafe_core.chunks import PERIOD
from rulesafe_core.errors import RuleSafeError, unknown_name
from vq_memory_node.memory import Reading
from vq_memory_node.resampling import JointFrame, JointStream
from vq_memory_node.rolling import RollingMemory

POINTS = "points"
"""The name of the cloud among the pictures' kinds; the others are those of CAMERAS."""

MEMORY = "memory"
"""The name of the memory's readings among what may be missing."""

BACK = 5
"""An observation may lie this many frames behind the newest joint states, for pictures that come
later than those."""


@dataclass
class SynchroniserCounts:
    """What was left out or put in another's place, since the synchroniser was made.

    Attributes:
        out_of_tolerance: pictures and clouds that lie too far from any frame.
        filled: parts of observations that were taken from a neighbouring frame.
    """

    out_of_tolerance: int = 0
    filled: int = 0


class _Recent:
    """The last things by frame, in the order in which they came."""

    def __init__(self) -> None:
        self._parts: dict[int, tuple[int, Any]] = {}

    def add(self, frame: int, distance: int, part: Any) -> None:
        if frame in self._parts and self._parts[frame][0] < distance:
            return
        self._parts.pop(frame, None)
        self._parts[frame] = distance, part
        while len(self._parts) > KEPT:
            del self._parts[next(iter(self._parts))]

    def at(self, frame: int) -> Any:
        """The part of that frame, or None."""
        return self._parts[frame][1] if frame in self._parts else None

    def near(self, frame: int) -> Any:
        """The part of the nearest frame within BACK frames, or None."""
        near = [other for other in self._parts if abs(other - frame) <= BACK]
        return self.at(min(near, key=lambda other: abs(other - frame))) if near else None

    def keep(self, first: int) -> None:
        """Forgets what is not of an episode that begins with this frame."""
        self._parts = {f: p for f, p in self._parts.items() if first <= f <= first + KEPT}


class Synchroniser:
    """One stream of joint states and what belongs to it; stamps in ns.

    Args:
        needs: of the policy.
        tolerance: how far (ns) a picture may lie from its frame; at most half a frame.
        max_gap: ns without a joint state after which a new episode begins.
        memory: one that is fed here, frame by frame; None where readings come from elsewhere
            (`reading`), or none are needed.

    `instruction` is what the policy is told; None where that has not come yet. `episode` counts
    episodes; `first` is the stamp of the present one's first frame, None before it.
    """

    def __init__(
        self,
        needs: Needs,
        tolerance: int = PERIOD // 2,
        max_gap: int = 5 * PERIOD,
        memory: RollingMemory | None = None,
    ) -> None:
        if not 0 <= tolerance <= PERIOD // 2:
            raise RuleSafeError(
                f"the tolerance lies within 0 and {PERIOD // 2} ns, got {tolerance}"
            )
        self.stream = JointStream(max_gap=max_gap)
        self.counts = SynchroniserCounts()
        self.instruction: str | None = None
        self.episode = 0
        self.first: int | None = None
        self.newest = -1  # stamp of the newest frame
        self._needs, self._tolerance, self._memory = needs, tolerance, memory
        self._history = ObservationHistory(needs)
        self._kinds = ((POINTS,) if needs.points else ()) + (CAMERAS if needs.images else ())
        self._pictures = {kind: _Recent() for kind in self._kinds}
        self._readings = _Recent()

    # What comes in ------------------------------------------------------------------------

    def start(self, stamp: int) -> None:
        """An episode starts at this stamp. Told twice, it is still one start."""
        for frame in self.stream.start(stamp):
            self._take(frame)

    def joints(self, stamp: int, names: Sequence[str], positions: Any) -> None:
        """Joint states: see `JointStream.push`, also for errors."""
        for frame in self.stream.push(stamp, names, positions):
            self._take(frame)

    def picture(self, kind: str, stamp: int, picture: NDArray[Any]) -> None:
        """A cloud (kind POINTS), or a camera's picture. Errors: RuleSafeError for another kind."""
        if kind not in self._pictures:
            raise unknown_name("kind of picture", kind, self._kinds)
        frame = (stamp + PERIOD // 2) // PERIOD
        distance = abs(stamp - frame * PERIOD)
        if distance > self._tolerance:
            self.counts.out_of_tolerance += 1
            return
        self._pictures[kind].add(frame, distance, picture)

    def reading(self, stamp: int, reading: Reading) -> None:
        """What a memory tells at a frame; an empty one tells that it has seen nothing yet."""
        if stamp % PERIOD == 0 and reading.mask.any():
            self._readings.add(stamp // PERIOD, 0, reading)

    def _take(self, frame: JointFrame) -> None:
        number = frame.stamp // PERIOD
        # An episode that was joined at its start may be told of afterwards: it is the same one.
        if frame.begins and frame.stamp != self.first:
            self.first, self.newest = frame.stamp, -1
            self.episode += 1
            self._history.reset(number)
            for recent in (*self._pictures.values(), self._readings):
                recent.keep(number)
        if frame.begins and self._memory:
            self._memory.reset()
        self.newest = max(self.newest, frame.stamp)
        self._history.push(number, frame.position)
        if self._memory:
            self._memory.push(frame.position)
            self._readings.add(number, 0, self._memory.read())

    # What goes out ------------------------------------------------------------------------

    def complete(self, due: int, fill: bool = False) -> tuple[int, Observation] | None:
        """The newest observation from `due` (ns) on that has all of its parts, and its stamp.

        `fill`: parts that did not come are taken from the nearest frame of the last half second.
        """
        if self.first is None or (self._needs.instruction and self.instruction is None):
            return None
        earliest = max(due, self.first, self.newest - BACK * PERIOD)
        for stamp in range(self.newest, earliest - 1, -PERIOD):
            if not self.missing(stamp):
                return stamp, self._observation(stamp)
        if fill and self.newest >= earliest and not self.missing(self.newest, fill=True):
            return self.newest, self._observation(self.newest)
        return None

    def missing(self, stamp: int, fill: bool = False) -> tuple[str, ...]:
        """What an observation at this stamp lacks: of "joints", POINTS, CAMERAS and MEMORY."""
        number = stamp // PERIOD
        clouds = self._history.clouds(number)
        lacking = []
        for kind, recent in self._pictures.items():
            get = recent.near if fill else recent.at
            if any(get(frame) is None for frame in (clouds if kind == POINTS else (number,))):
                lacking.append(kind)
        if self._needs.memory and self._readings.at(number) is None:
            lacking.append(MEMORY)
        return tuple(lacking)

    def _observation(self, stamp: int) -> Observation:
        number = stamp // PERIOD
        if POINTS in self._pictures:
            for frame in self._history.clouds(number):
                self._history.push(frame, points=self._part(POINTS, frame))
        pictures = {c: self._part(c, number) for c in CAMERAS if c in self._pictures}
        self._history.push(number, images=pictures)
        reading = {"memory": self._readings.at(number)} if self._needs.memory else {}
        return self._history.observation(number, self.instruction or "", **reading)

    def _part(self, kind: str, frame: int) -> NDArray[Any]:
        part = self._pictures[kind].at(frame)
        if part is None:
            self.counts.filled += 1
            part = self._pictures[kind].near(frame)
        return part


def newest_values(reading: Reading, length: int) -> Reading:
    """The reading that a memory of `length` values would have given: the newest ones of a longer
    one. Errors: RuleSafeError if it is shorter."""
    if len(reading.mask) < length:
        raise RuleSafeError(
            f"the memory holds {len(reading.mask)} values; the policy was trained with {length}"
        )
    start = len(reading.mask) - length
    return Reading(np.array(reading.values[start:]), np.array(reading.mask[start:]))
