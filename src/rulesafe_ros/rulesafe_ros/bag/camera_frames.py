"""Read the images and point clouds of an episode's frames from a bag, frame by frame.

An image belongs to the frame nearest to its stamp. A frame without an image gets the image of the
nearest frame at most `reach` frames away; these frames are counted.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rulesafe_core.cameras import POINTS
from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import decode_cloud, decode_image, to_ns
from rulesafe_data.bags.decoding import MessageDecoder
from rulesafe_data.bags.reading import Bag
from rulesafe_ros.bag.episodes import MARGIN, BagEpisode

REACH = 5
"""Largest distance of a frame that provides a missing image, and delay of a late image, frames."""


class CameraFrames:
    """Iterate over the frames of an episode: for each, its images and point cloud by source.

    Args:
        bag: the bag; each iteration reads it once.
        episode: one of its episodes.
        count: number of frames.
        topics: topics by source, a camera or POINTS.
        reach: a missing image is replaced by the nearest one at most this many frames away.

    Attributes:
        filled: number of images replaced so far.

    Raises:
        RuleSafeError: while iterating, a frame has no image within reach.
    """

    def __init__(
        self,
        bag: Bag,
        episode: BagEpisode,
        count: int,
        topics: Mapping[str, str],
        reach: int = REACH,
    ):
        self._bag, self._episode, self._count, self._reach = bag, episode, count, reach
        self._topics = topics
        self.filled = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        found: dict[str, dict[int, tuple[int, Any]]] = {source: {} for source in self._topics}
        newest, due = dict.fromkeys(found, -1), 0
        for source, frame, distance, message in self._messages():
            if not due - self._reach <= frame < self._count + REACH:
                continue
            if frame not in found[source] or found[source][frame][0] > distance:
                found[source][frame] = distance, message
            newest[source] = max(newest[source], frame)
            while due < self._count and min(newest.values()) > due + REACH:
                yield self._frame(found, due)
                due += 1
        while due < self._count:
            yield self._frame(found, due)
            due += 1

    def _frame(self, found: dict[str, dict[int, tuple[int, Any]]], due: int) -> dict[str, Any]:
        images = {}
        for source, frames in found.items():
            nearest = min(frames, key=lambda frame: abs(frame - due), default=None)
            if nearest is None or abs(nearest - due) > self._reach:
                at = self._episode.stamp(due) / SECOND
                raise RuleSafeError(
                    f"no message on {self._topics[source]} within "
                    f"{self._reach * PERIOD / SECOND:g} s of {at:.1f} s: "
                    "increase --fill to use a more distant frame"
                )
            self.filled += nearest != due
            decode = decode_cloud if source == POINTS else decode_image
            images[source] = decode(frames[nearest][1])
        for frames in found.values():
            kept = max((frame for frame in frames if frame <= due), default=due)
            for frame in [frame for frame in frames if frame < kept]:
                del frames[frame]
        return images

    def _messages(self) -> Iterator[tuple[str, int, int, Any]]:
        """Yield source, nearest frame, distance from the frame (ns) and message of each image of
        the episode; images beyond its frames can be those of the previous or the next episode."""
        decode, first = MessageDecoder(self._bag), self._episode.start
        sources = {topic: source for source, topic in self._topics.items()}
        begin, end = self._episode.recorded
        for message in self._bag.messages(list(sources), max(begin - MARGIN, 0), end + MARGIN):
            decoded = decode(message)
            passed = to_ns(decoded.header.stamp) - first
            frame = (passed + PERIOD // 2) // PERIOD
            if 0 <= frame < self._episode.frames:
                yield sources[message.topic], frame, abs(passed - frame * PERIOD), decoded

    @property
    def end(self) -> int:
        """Number of frames for which all sources have images; a camera may end before the joint
        states do."""
        last = dict.fromkeys(self._topics, -1)
        for source, frame, _, _ in self._messages():
            last[source] = max(last[source], frame)
        return min(self._count, min(last.values()) + 1)
