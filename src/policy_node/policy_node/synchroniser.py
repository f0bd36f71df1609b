"""Synchronisation of joint states, images, point clouds and memory readings to observations.

Frames are at the multiples of 0.1 s of the stamps' clock, as in the memory. Joint positions at a
frame are interpolated between two joint states. An image or a point cloud is assigned to the frame
nearest to its stamp, within a tolerance; a memory reading to the frame of its stamp. In simulation
the stamps of all parts are exactly those of the frames. Without ROS.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_node.history import KEPT, ObservationHistory
from policy_node.policy import Needs, Observation
from rulesafe_core.cameras import POINTS
from rulesafe_core.chunks import PERIOD
from rulesafe_core.errors import RuleSafeError, unknown_name
from vq_memory_node.memory import Reading
from vq_memory_node.resampling import JointFrame, JointStream
from vq_memory_node.rolling import RollingMemory

MEMORY = "memory"
"""Name of the memory reading among the missing parts."""

MAX_DELAY = 5
"""Maximum age of an observation, in frames behind the newest joint states. It is above 0 because
images and point clouds arrive later than joint states."""


@dataclass
class SynchroniserCounts:
    """Counts of discarded and replaced parts since the synchroniser was created.

    Attributes:
        out_of_tolerance: images and point clouds whose stamps are too far from any frame.
        filled: parts of observations that were replaced by those of a neighbouring frame.
    """

    out_of_tolerance: int = 0
    filled: int = 0


class _RecentParts:
    """The last parts of one kind by frame number, in the order of arrival."""

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
        """Return the part of that frame, or None."""
        return self._parts[frame][1] if frame in self._parts else None

    def nearest(self, frame: int) -> Any:
        """Return the part of the nearest frame within MAX_DELAY frames, or None."""
        near = [other for other in self._parts if abs(other - frame) <= MAX_DELAY]
        return self.at(min(near, key=lambda other: abs(other - frame))) if near else None

    def begin_episode(self, first: int | None) -> None:
        """Discard parts that do not belong to an episode that begins with this frame; None: all."""
        kept = () if first is None else range(first, first + KEPT + 1)
        self._parts = {f: p for f, p in self._parts.items() if f in kept}


class Synchroniser:
    """Assembles observations of the messages of several topics by their stamps (ns).

    Args:
        needs: observations that the policy requires.
        tolerance: maximum difference (ns) of the stamps of an image or point cloud and of its
            frame; at most half a frame.
        max_gap: time (ns) without joint states after which a new episode begins.
        memory: a memory that is updated here at each frame; None if readings are received
            (`reading`) or not needed.

    Attributes:
        instruction: the policy's instruction; None until it is received.
        episode: number of the current episode, from 1.
        first: stamp of the episode's first frame; None before the first episode.
    """

    def __init__(
        self,
        needs: Needs,
        tolerance: int = PERIOD // 2,
        max_gap: int = 5 * PERIOD,
        memory: RollingMemory | None = None,
    ) -> None:
        if not 0 <= tolerance <= PERIOD // 2:
            raise RuleSafeError(f"the tolerance must be 0 to {PERIOD // 2} ns, got {tolerance}")
        self.stream = JointStream(max_gap=max_gap)
        self.counts = SynchroniserCounts()
        self.instruction: str | None = None
        self.episode = 0
        self.first: int | None = None
        self.newest = -1  # stamp of the newest frame
        self._clock = 0  # clock resets at the first frame
        self._needs, self._tolerance, self._memory = needs, tolerance, memory
        self._history = ObservationHistory(needs)
        self._kinds = ((POINTS,) if needs.points else ()) + needs.image_cameras
        self._camera_parts = {kind: _RecentParts() for kind in self._kinds}
        self._readings = _RecentParts()

    @property
    def incomplete(self) -> str:
        """Return why the memory that is updated here lacks the start of the episode; empty if it
        does not."""
        return self.stream.incomplete if self._memory else ""

    # Inputs -------------------------------------------------------------------------------

    def start(self, stamp: int) -> None:
        """Start an episode at this stamp; repeated calls with one stamp start one episode."""
        for frame in self.stream.start(stamp):
            self._add_frame(frame)

    def joints(self, stamp: int, names: Sequence[str], positions: Any) -> None:
        """Add a joint state; see `JointStream.push` for arguments and exceptions."""
        for frame in self.stream.push(stamp, names, positions):
            self._add_frame(frame)

    def camera_data(self, kind: str, stamp: int, data: NDArray[Any]) -> None:
        """Add a point cloud (kind POINTS) or an image (kind: name of the camera)."""
        if kind not in self._camera_parts:
            raise unknown_name("kind of image", kind, self._kinds)
        frame = (stamp + PERIOD // 2) // PERIOD
        distance = abs(stamp - frame * PERIOD)
        if distance > self._tolerance:
            self.counts.out_of_tolerance += 1
            return
        self._camera_parts[kind].add(frame, distance, data)

    def reading(self, stamp: int, reading: Reading) -> None:
        """Add a memory reading; readings between frames and empty ones are ignored."""
        if stamp % PERIOD == 0 and reading.mask.any():
            self._readings.add(stamp // PERIOD, 0, reading)

    def _add_frame(self, frame: JointFrame) -> None:
        number = frame.stamp // PERIOD
        # The start of an episode may be received after its first joint state: it is the same one.
        clock = self.stream.clock_resets
        if frame.begins and (clock, frame.stamp) != (self._clock, self.first):
            for recent in (*self._camera_parts.values(), self._readings):
                # Stamps before a clock reset do not tell which clock a part belongs to.
                recent.begin_episode(number if clock == self._clock else None)
            self.first, self.newest, self._clock = frame.stamp, -1, clock
            self.episode += 1
            self._history.reset(number)
        if frame.begins and self._memory:
            self._memory.reset()
        self.newest = max(self.newest, frame.stamp)
        self._history.push(number, frame.position)
        if self._memory:
            self._memory.push(frame.position)
            self._readings.add(number, 0, self._memory.read())

    # Observations -------------------------------------------------------------------------

    def complete(self, due: int, fill: bool = False) -> tuple[int, Observation] | None:
        """Return the newest complete observation from `due` (ns) on and its stamp, or None.

        Args:
            fill: if no observation is complete, replace missing images and point clouds of the
                newest one by those of the nearest frame within MAX_DELAY frames.
        """
        if self.first is None or (self._needs.instruction and self.instruction is None):
            return None
        earliest = max(due, self.first, self.newest - MAX_DELAY * PERIOD)
        for stamp in range(self.newest, earliest - 1, -PERIOD):
            if not self.missing(stamp):
                return stamp, self._observation(stamp)
        if fill and self.newest >= earliest and not self.missing(self.newest, fill=True):
            return self.newest, self._observation(self.newest)
        return None

    def missing(self, stamp: int, fill: bool = False) -> tuple[str, ...]:
        """Return the parts that an observation at this stamp (ns) lacks: POINTS, cameras, MEMORY;
        `fill`: parts of neighbouring frames count as present."""
        number = stamp // PERIOD
        clouds = self._history.clouds(number)
        lacking = []
        for kind, recent in self._camera_parts.items():
            get = recent.nearest if fill else recent.at
            if any(get(frame) is None for frame in (clouds if kind == POINTS else (number,))):
                lacking.append(kind)
        if self._needs.memory and self._readings.at(number) is None:
            lacking.append(MEMORY)
        return tuple(lacking)

    def _observation(self, stamp: int) -> Observation:
        number = stamp // PERIOD
        if POINTS in self._camera_parts:
            for frame in self._history.clouds(number):
                self._history.push(frame, points=self._part(POINTS, frame))
        images = {camera: self._part(camera, number) for camera in self._needs.image_cameras}
        self._history.push(number, images=images)
        reading = {"memory": self._readings.at(number)} if self._needs.memory else {}
        return self._history.observation(number, self.instruction or "", **reading)

    def _part(self, kind: str, frame: int) -> NDArray[Any]:
        part = self._camera_parts[kind].at(frame)
        if part is None:
            self.counts.filled += 1
            part = self._camera_parts[kind].nearest(frame)
        return part


def newest_values(reading: Reading, length: int) -> Reading:
    """Return the newest `length` values of a reading; raise RuleSafeError if it has fewer."""
    if len(reading.mask) < length:
        raise RuleSafeError(
            f"the memory has {len(reading.mask)} values; the policy was trained with {length}"
        )
    start = len(reading.mask) - length
    return Reading(np.array(reading.values[start:]), np.array(reading.mask[start:]))
