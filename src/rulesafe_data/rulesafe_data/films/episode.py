"""The video of one episode, from snapshots and images, and the end of the episode. No ROS here."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.chunks import SECOND
from rulesafe_data.films.frames import ContactSheet, RgbImage, compose, in_words
from rulesafe_data.films.strip import Tokens, with_strip
from rulesafe_sim.episode import EpisodeRecord, EpisodeTracker, PhaseChange, TaskSnapshot, changes
from rulesafe_sim.video_file import VideoFile

LINGER = 1.0
"""Simulated time for which the video continues after the door has opened, s."""

CLOSING = 2.0
"""Duration of the last image, s."""

LATE = 20
"""Number of complete instants (0.1 s each) for which an instant waits for its tokens."""


@dataclass
class _Memory:
    """The received tokens by stamp, and the stamp from which they belong to the episode."""

    received: dict[int, Tokens] = field(default_factory=dict)
    began: int = 2**63  # ns, of the first facts; older tokens belong to another episode

    @property
    def newest(self) -> int:
        """Stamp of the newest tokens; -1 if there are none."""
        return max(self.received, default=-1)

    def at(self, stamp: int) -> Tokens | None:
        """Return the newest tokens of the episode with a stamp up to `stamp` (ns).

        Before the first tokens of the episode, all tokens are masked. The result is None if no
        tokens have been received at all.
        """
        newest = max((s for s in self.received if self.began <= s <= stamp), default=None)
        if newest is not None:
            self.received = {s: tokens for s, tokens in self.received.items() if s >= newest}
            return self.received[newest]
        return next((tokens.emptied() for tokens in self.received.values()), None)


class VideoClock:
    """The clock of a video. It stops when the door opens, while the images continue, so that the
    video ends with the time of the result."""

    def __init__(self) -> None:
        self._opened: float | None = None  # simulated time since the reset, s

    def stopped(self, now: TaskSnapshot) -> TaskSnapshot:
        """Return the snapshot, with the time of the first success after it."""
        if not now.success:
            return now
        self._opened = now.time if self._opened is None else self._opened
        return replace(now, time=self._opened)


class VideoRecorder:
    """Video and contact sheet of one episode, from images and facts that arrive in any order.

    They are matched by their stamps (ns); each instant is recorded once, in order. The video has a
    strip of memory tokens if tokens have been received by the first instant that is recorded. The
    clock in both stops when the door opens; the last images are a moment later.

    Args:
        folder: folder of both files.
        instruction: the rule's instruction.
        cameras: names of the cameras.
    """

    def __init__(
        self, folder: Path, instruction: str, cameras: Sequence[str] = DEFAULT_CAMERAS.names
    ):
        self._cameras = cameras
        self._film, self._sheet = VideoFile(folder / "film.mp4"), ContactSheet()
        self._folder, self._instruction = folder, instruction
        self._parts: dict[int, dict[str, RgbImage | TaskSnapshot]] = {}
        self._complete: list[tuple[int, dict[str, RgbImage | TaskSnapshot]]] = []
        self._taken = -1  # stamp of the last complete instant
        self._clock = VideoClock()
        self._memory: _Memory | None = _Memory()  # None: the video has no strip
        self._last: tuple[dict[str, RgbImage], TaskSnapshot, Tokens | None] | None = None

    def add_image(self, camera: str, stamp: int, image: RgbImage) -> None:
        self._add(camera, stamp, image)

    def facts(self, stamp: int, now: TaskSnapshot) -> None:
        if self._memory:
            self._memory.began = min(self._memory.began, stamp)
        self._add("facts", stamp, self._clock.stopped(now))

    def tokens(self, stamp: int, tokens: Tokens) -> None:
        if self._memory:
            self._memory.received[stamp] = tokens
            self._develop(LATE)

    def _add(self, kind: str, stamp: int, part: RgbImage | TaskSnapshot) -> None:
        if stamp <= self._taken:
            return
        parts = self._parts.setdefault(stamp, {})
        parts[kind] = part
        if len(parts) <= len(self._cameras):
            return
        self._taken = stamp
        self._parts = {s: p for s, p in self._parts.items() if s > stamp}
        self._complete.append((stamp, parts))
        self._develop(LATE)

    def _develop(self, patience: int) -> None:
        """Write the complete instants, except the last `patience` whose tokens may still arrive."""
        while self._complete:
            stamp, parts = self._complete[0]
            waiting = self._memory and self._memory.newest < stamp
            if waiting and len(self._complete) <= patience:
                return
            del self._complete[0]
            tokens = self._memory.at(stamp) if self._memory else None
            if tokens is None:
                self._memory = None  # the size of a video cannot change after its first image
            images = {camera: parts[camera] for camera in self._cameras}
            self._shoot(images, parts["facts"], tokens)  # type: ignore[arg-type]

    def _shoot(self, images: dict[str, RgbImage], now: TaskSnapshot, tokens: Tokens | None) -> None:
        self._film.add(with_strip(compose(images, now, self._instruction), tokens))
        if self._last is None:
            self._sheet.add(images, now.time, "start")
        else:
            events = changes(self._last[1].part_open, now)
            if events and not now.success:  # the last tile shows the open door
                done = ", ".join(_done(change) for change in events)
                self._sheet.add(images, now.time, done)
        self._last = images, now, tokens

    def close(self, result: EpisodeRecord | None) -> list[Path]:
        """Finish both files and return their paths, none if there was no image."""
        self._develop(0)
        if self._last is None:
            return []
        if result:
            images, now, tokens = self._last
            now = replace(now, time=result.time)  # the images may end earlier
            seconds = f"{result.time:.1f} s"
            verdict = f"opened in {seconds}" if result.success else f"failed after {seconds}"
            last = compose(images, now, self._instruction, verdict)
            self._film.hold(with_strip(last, tokens), CLOSING)
            self._sheet.add(images, now.time, verdict)
            path = self._folder / "sheet.png"
            self._sheet.save(path, f"{now.rule} on {now.safe}, seed {now.seed}", self._instruction)
        self._film.close()
        return [self._film.path, *([path] if result else [])]


def _done(change: PhaseChange) -> str:
    return in_words(change.event).replace("open ", "opened ").replace("close ", "closed ")


class EpisodeMonitor:
    """Decides when an episode has ended: the door is open, the time limit is reached, or it failed.

    Snapshots, images and tokens may arrive out of order and more than once. The result is the
    earliest snapshot, by time, that ends the episode; it does not depend on when it is read.
    """

    def __init__(self, time_limit: float, recorder: VideoRecorder | None = None):
        self.recorder = recorder
        self._tracker = EpisodeTracker(time_limit)
        self._moved = time.monotonic()
        self._ended: float | None = None
        self._stamp = -1
        self._last_filmed = 2**63

    @property
    def result(self) -> EpisodeRecord | None:
        return self._tracker.record

    def update(self, stamp: int, now: TaskSnapshot, waiting: bool = False) -> None:
        """Take the snapshot of an instant (stamp in ns). `waiting`: simulated time is paused."""
        if stamp > self._stamp or self._tracker.now is None:
            self._stamp, self._moved = stamp, time.monotonic()
            if self.recorder and stamp <= self._last_filmed:
                self.recorder.facts(stamp, now)
            was_running = self.result is None
            self._tracker.update(now)
            if self.result and was_running:
                self._last_filmed = stamp + round(LINGER * now.success * SECOND)
        if self.result and (waiting or stamp >= self._last_filmed):
            self._ended = self._ended or time.monotonic()

    def add_image(self, camera: str, stamp: int, image: RgbImage) -> None:
        if self.recorder and stamp <= self._last_filmed:
            self.recorder.add_image(camera, stamp, image)

    def tokens(self, stamp: int, tokens: Tokens) -> None:
        if self.recorder and stamp <= self._last_filmed:
            self.recorder.tokens(stamp, tokens)

    def give_up(self, reason: str) -> None:
        """End the episode as failed, unless it has ended already."""
        if self.result is None and self._tracker.now is not None:
            self._tracker.end(reason)
            self._last_filmed = self._stamp
            self._ended = time.monotonic()

    @property
    def still(self) -> float:
        """Wall time since simulated time last advanced, s."""
        return time.monotonic() - self._moved

    @property
    def over(self) -> bool:
        """Whether the episode has ended and its last images have had time to arrive."""
        patience = 0.5 if self.recorder else 0.0
        if self.result and self.still > 10:  # the last second of the film was not received
            return True
        return self._ended is not None and time.monotonic() - self._ended >= patience
