"""Pictures and clouds of an episode's frames, from a bag, one frame after another. No ROS here.

A picture belongs to the frame that is nearest to its stamp. Where a frame has none, it gets that of
the nearest frame within half a second, and that is counted.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags.decoding import Decoder
from rulesafe_data.bags.reading import Bag
from rulesafe_ros.bag import messages
from rulesafe_ros.bag.episodes import NEAR, Episode

BACK = 5
"""Frames from which a missing picture may be taken; so long one is waited for."""

HEAD, FRONT, POINTS = "head", "front", "points"

CAMERAS = {HEAD: "/camera/head/image_raw", FRONT: "/camera/front/image_raw"}
FILM = {HEAD: "/film/head/compressed", FRONT: "/film/front/compressed"}
CLOUD = {POINTS: "/camera/points"}

PLAIN: Mapping[str, Callable[[Any], Any]] = {
    HEAD: messages.picture,
    FRONT: messages.picture,
    POINTS: messages.cloud,
}
"""What makes arrays of messages, by kind."""


class Sights:
    """Goes through an episode's pictures.

    Args:
        bag: it is read once for each iteration.
        episode: one of its episodes.
        count: frames wanted.
        topics: by kind: HEAD, FRONT, POINTS.
        reach: frames from which a missing picture may be taken.

    Attributes:
        filled: pictures that were taken from another frame so far.

    Errors: RuleSafeError, while iterating, for a frame that has no picture anywhere near.
    """

    def __init__(
        self,
        bag: Bag,
        episode: Episode,
        count: int,
        topics: Mapping[str, str],
        reach: int = BACK,
    ):
        self._bag, self._episode, self._count, self._reach = bag, episode, count, reach
        self._kinds = {topic: kind for kind, topic in topics.items()}
        self.filled = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """For each frame, its pictures by kind."""
        found: dict[str, dict[int, tuple[int, Any]]] = {kind: {} for kind in self._kinds.values()}
        newest, due = dict.fromkeys(found, -1), 0
        for kind, frame, distance, decoded in self._seen():
            if not due - self._reach <= frame < self._count + BACK:
                continue
            if frame not in found[kind] or found[kind][frame][0] > distance:
                found[kind][frame] = distance, decoded
            newest[kind] = max(newest[kind], frame)
            while due < self._count and min(newest.values()) > due + BACK:
                yield self._frame(found, due)
                due += 1
        while due < self._count:
            yield self._frame(found, due)
            due += 1

    def _frame(self, found: dict[str, dict[int, tuple[int, Any]]], due: int) -> dict[str, Any]:
        parts = {}
        for kind, frames in found.items():
            near = min(frames, key=lambda frame: abs(frame - due), default=None)
            if near is None or abs(near - due) > self._reach:
                at = self._episode.stamp(due) / SECOND
                topic = next(name for name, k in self._kinds.items() if k == kind)
                raise RuleSafeError(
                    f"nothing of {topic} within {self._reach * PERIOD / SECOND:g} s of {at:.1f} s: "
                    "a larger --fill takes what is further away"
                )
            self.filled += near != due
            parts[kind] = PLAIN[kind](frames[near][1])
        for frames in found.values():
            kept = max((frame for frame in frames if frame <= due), default=due)
            for frame in [frame for frame in frames if frame < kept]:
                del frames[frame]
        return parts

    def _seen(self) -> Iterator[tuple[str, int, int, Any]]:
        """Each picture: its kind, the frame nearest to it, how far that is (ns), the message."""
        decode, first = Decoder(self._bag), self._episode.start
        begin, end = self._episode.recorded
        for message in self._bag.messages(list(self._kinds), max(begin - NEAR, 0), end + NEAR):
            decoded = decode(message)
            passed = messages.stamp(decoded.header.stamp) - first
            frame = (passed + PERIOD // 2) // PERIOD
            yield self._kinds[message.topic], frame, abs(passed - frame * PERIOD), decoded

    @property
    def end(self) -> int:
        """How many frames there are until one of the cameras ends: a recorder, or a camera, may
        end before the joint states do."""
        last = dict.fromkeys(self._kinds.values(), -1)
        for kind, frame, _, _ in self._seen():
            last[kind] = max(last[kind], frame)
        return min(self._count, min(last.values()) + 1)
