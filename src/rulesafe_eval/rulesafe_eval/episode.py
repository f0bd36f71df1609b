"""Follows one episode: when it ends, how, and its film. Facts and pictures in; no ROS here."""

import time
from pathlib import Path

from rulesafe_eval.film import Film, Picture, Sheet, compose, in_words
from rulesafe_eval.summary import EpisodeResult, PhaseChange, Snapshot, changes
from rulesafe_sim.chunks import SECOND

LINGER = 1.0
"""The film goes on this long (s of simulated time) after the door has opened."""

CLOSING = 2.0
"""The last picture stays this long (s)."""


class Recorder:
    """Film and contact sheet of one episode, from pictures and facts that arrive in any order.

    They are put together by their stamps (ns); each instant is filmed once, in order.
    """

    def __init__(self, folder: Path, instruction: str):
        self._film, self._sheet = Film(folder / "film.mp4"), Sheet()
        self._folder, self._instruction = folder, instruction
        self._parts: dict[int, dict[str, Picture | Snapshot]] = {}
        self._filmed = -1
        self._last: tuple[Picture, Picture, Snapshot] | None = None

    def picture(self, camera: str, stamp: int, picture: Picture) -> None:
        self._add(camera, stamp, picture)

    def facts(self, stamp: int, now: Snapshot) -> None:
        self._add("facts", stamp, now)

    def _add(self, kind: str, stamp: int, part: Picture | Snapshot) -> None:
        if stamp <= self._filmed:
            return
        parts = self._parts.setdefault(stamp, {})
        parts[kind] = part
        if len(parts) < 3:
            return
        self._filmed = stamp
        self._parts = {s: p for s, p in self._parts.items() if s > stamp}
        self._shoot(parts["head"], parts["front"], parts["facts"])  # type: ignore[arg-type]

    def _shoot(self, head: Picture, front: Picture, now: Snapshot) -> None:
        self._film.add(compose(head, front, now, self._instruction))
        if self._last is None:
            self._sheet.add(head, front, now.time, "start")
        else:
            events = changes(self._last[2].part_open, now)
            if events and not now.success:  # the last tile shows the open door
                done = ", ".join(_done(change) for change in events)
                self._sheet.add(head, front, now.time, done)
        self._last = head, front, now

    def close(self, result: EpisodeResult | None) -> list[Path]:
        """Completes both files; their paths, none if there was no picture."""
        if self._last is None:
            return []
        if result:
            head, front, now = self._last
            seconds = f"{result.simulated_time:.1f} s"
            verdict = f"opened in {seconds}" if result.opened else f"failed after {seconds}"
            self._film.hold(compose(head, front, now, self._instruction, verdict), CLOSING)
            self._sheet.add(head, front, now.time, verdict)
            path = self._folder / "sheet.png"
            self._sheet.save(path, f"{now.rule} on {now.safe}, seed {now.seed}", self._instruction)
        self._film.close()
        return [self._film.path, *([path] if result else [])]


def _done(change: PhaseChange) -> str:
    return in_words(change.event).replace("open ", "opened ").replace("close ", "closed ")


class Watch:
    """Decides when an episode has ended: the door is open, time is up, or somebody gave up.

    The first snapshot that ends it is the result, so that it does not depend on when the
    evaluator looked.
    """

    def __init__(self, time_limit: float, recorder: Recorder | None = None):
        self.recorder = recorder
        self._limit = time_limit
        self._began = time.monotonic()
        self._moved = self._began
        self._ended: float | None = None
        self._last: Snapshot | None = None
        self._stamp = -1
        self._last_filmed = 2**63
        self._events: list[PhaseChange] = []
        self.result: EpisodeResult | None = None

    def see(self, stamp: int, now: Snapshot, waiting: bool) -> None:
        """Takes the facts of an instant (stamp in ns). `waiting`: time stands still."""
        if stamp > self._stamp or self._last is None:
            self._stamp, self._moved = stamp, time.monotonic()
            self._events += changes(self._last.part_open if self._last else {}, now)
            self._last = now
            if self.recorder and stamp <= self._last_filmed:
                self.recorder.facts(stamp, now)
        if self.result is None:
            if now.success:
                self._end(now, "", linger=LINGER)
            elif now.time >= self._limit:
                self._end(now, f"time limit of {self._limit:g} s")
        if self.result and (waiting or stamp >= self._last_filmed):
            self._ended = self._ended or time.monotonic()

    def picture(self, camera: str, stamp: int, picture: Picture) -> None:
        if self.recorder and stamp <= self._last_filmed:
            self.recorder.picture(camera, stamp, picture)

    def give_up(self, reason: str) -> None:
        """Ends the episode as failed, if it has not ended."""
        if self.result is None and self._last is not None:
            self._end(self._last, reason)
            self._ended = time.monotonic()

    def _end(self, now: Snapshot, reason: str, linger: float = 0.0) -> None:
        wall = time.monotonic() - self._began
        self.result = EpisodeResult.of(now, self._events, wall, reason)
        self._last_filmed = self._stamp + round(linger * SECOND)

    @property
    def still(self) -> float:
        """How long simulated time has stood still, s of wall time."""
        return time.monotonic() - self._moved

    @property
    def over(self) -> bool:
        """The episode has ended and the pictures on their way have had time to arrive."""
        patience = 0.5 if self.recorder else 0.0
        if self.result and self.still > 10:  # the film's last second never came
            return True
        return self._ended is not None and time.monotonic() - self._ended >= patience
