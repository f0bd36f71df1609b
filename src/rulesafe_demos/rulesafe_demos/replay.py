"""`rulesafe demos replay`: executes a recording's actions again and compares states bit by bit."""

from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.versions import check_physics
from rulesafe_data.attempt_recording import STATE, RecordedAttempt, snapshot
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_data.films.episode import VideoClock
from rulesafe_data.films.frames import SIDE, compose
from rulesafe_demos.attempts import load_request
from rulesafe_locks.rules import PARTS
from rulesafe_sim.episode import Activity
from rulesafe_sim.observer import Observer
from rulesafe_sim.runtime import Playback, Runtime, Subscriber
from rulesafe_sim.simulation import Simulation
from rulesafe_sim.variation import Variation
from rulesafe_sim.video_file import VideoFile

LINGER = 2.0
"""Duration of the video's last image, s."""


@dataclass(frozen=True)
class Difference:
    """The first difference between a replay and its recording."""

    frame: int
    column: str
    element: str  # name or index of the element, empty for a scalar
    recorded: Any
    replayed: Any

    def __str__(self) -> str:
        of = f" of {self.element}" if self.element else ""
        return (
            f"frame {self.frame}: {self.column}{of} was {self.recorded!s}, is now {self.replayed!s}"
        )


def find(directory: Path, episode: int | None, rule: str, attempt: int | None) -> Path:
    """Return the path of a recording: the file itself, an episode of the dataset by index, or an
    attempt of a rule, successful or not. Raises RuleSafeError with the valid choices."""
    if directory.is_file():
        return directory
    request, folder = load_request(directory), DemoFolder(directory)
    if rule and attempt is not None:
        decided = folder.decided(rule)
        if attempt not in decided:
            raise RuleSafeError(
                f"{rule} has no attempt {attempt}; valid: {_spans(list(decided)) or 'none'}"
            )
        return folder.file(rule, attempt, decided[attempt])
    if episode is None:
        raise RuleSafeError("give the index of an episode, --rule and --attempt, or a file")
    episodes = folder.episodes(request.rules, request.episodes)
    if not 0 <= episode < len(episodes):
        raise RuleSafeError(f"no episode {episode}; there are {len(episodes)}, from 0")
    return folder.file(*episodes[episode], success=True)


def _spans(numbers: list[int]) -> str:
    """Return sorted numbers as text: "0..4, 7"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{a}..{b}" if b > a else str(a) for a, b in spans)


def replay(recording: RecordedAttempt, film: Path | None = None) -> Difference | None:
    """Execute a recording's actions again and return the first difference, or None.

    With `film`, the images of both cameras are written there (MP4), up to the difference.

    Raises:
        RuleSafeError: it has no actions, or was recorded with another version of the physics.
    """
    facts = recording.facts
    if facts["variation"] is None:
        raise RuleSafeError(f"nothing to replay: {facts['failure']}")
    check_physics(facts.get("versions", {}), "the recording", "generate it again")
    simulation = Simulation()
    variation = Variation.from_dict(facts["variation"])
    simulation.reset(recording.rule_source, facts["safe"], facts["seed"], variation)
    comparison = _Comparison(recording)
    subscribers: list[Subscriber] = [comparison]
    camera = _Camera(simulation, recording, film) if film else None
    if camera:
        subscribers.insert(0, camera)
    actions = recording.columns["action"][:-1].astype(np.float64)
    equal_so_far = takewhile(lambda _: comparison.difference is None, actions)
    try:
        Runtime(simulation, subscribers=subscribers).run(Playback(equal_so_far), stop=False)
    finally:
        if camera:
            camera.film.close()
    if comparison.difference is None and facts["digest"] not in ("", simulation.digest):
        return Difference(recording.frames, "digest", "", facts["digest"], simulation.digest)
    return comparison.difference


class _Comparison:
    """Subscriber that finds the first difference between the states and a recording."""

    def __init__(self, recording: RecordedAttempt):
        self.difference: Difference | None = None
        self._recording = recording

    def __call__(self, simulation: Simulation, action: NDArray | None, activity: Activity) -> None:
        self.difference = _compare(self._recording, simulation.frame, snapshot(simulation))


def _compare(recording: RecordedAttempt, frame: int, now: dict[str, Any]) -> Difference | None:
    for column in STATE:
        recorded, replayed = recording.columns[column][frame], now[column]
        if np.ndim(recorded) == 0:
            if recorded != replayed:
                return Difference(frame, column, "", recorded, replayed)
            continue
        unequal = np.frombuffer(recorded.tobytes(), np.uint8) != np.frombuffer(
            replayed.tobytes(), np.uint8
        )
        if unequal.any():
            i = int(unequal.argmax()) // recorded.itemsize
            names = _names(recording.facts, column)
            return Difference(frame, column, names[i], recorded[i], replayed[i])
    return None


def _names(facts: Any, column: str) -> list[str]:
    if column.startswith("robot"):
        return facts["robot_joints"]
    return facts["contact_names"] if column == "contact_force" else list(PARTS)


class _Camera:
    """Subscriber that records a video with the captions of an evaluation's video."""

    def __init__(self, simulation: Simulation, recording: RecordedAttempt, path: Path):
        self.film = VideoFile(path)
        self._recording = recording
        self._clock = VideoClock()
        self._observer = Observer(simulation, DEFAULT_CAMERAS.resized(SIDE))

    def __call__(self, simulation: Simulation, action: NDArray | None, activity: Activity) -> None:
        seen = self._observer.observe(camera.name for camera in DEFAULT_CAMERAS)
        images = {camera.name: seen[camera.name] for camera in DEFAULT_CAMERAS}
        now = self._clock.stopped(simulation.snapshot())
        facts, last = self._recording.facts, simulation.frame == self._recording.frames
        verdict = ""
        if last:
            verdict = f"{'opened' if facts['success'] else 'failed'} after {now.time:.1f} s"
        image = compose(images, now, facts["instruction"], verdict)
        self.film.add(image)
        if last:
            self.film.hold(image, LINGER)
