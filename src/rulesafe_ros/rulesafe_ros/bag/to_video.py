"""`rulesafe bag to-video`: films of a bag's episodes: both cameras, the plan's steps ticking off
where somebody told of them, and the memory's tokens. No ROS here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags.reading import Bag
from rulesafe_demos.film.episode import Recorder
from rulesafe_demos.film.film import Picture
from rulesafe_demos.film.summary import EpisodeResult, Snapshot, changes
from rulesafe_ros.bag import messages
from rulesafe_ros.bag.episodes import Episode, read_episodes
from rulesafe_ros.bag.scene_features import CAMERAS, FILM, FRONT, HEAD, Sights

DARK: Picture = np.full((64, 64, 3), 17, np.uint8)
"""In place of a camera that was not recorded."""


def to_video(path: Path, folder: Path, said: Callable[[str], None] = print) -> list[Path]:
    """Films every episode of a bag; the files. One episode's are in `folder`, those of several in
    folders of their own below it.

    Errors: RuleSafeError where the bag has no pictures, or no whole episode.
    """
    bag = Bag(path)
    topics = cameras(bag)
    episodes = read_episodes(bag, said)
    written: list[Path] = []
    for number, episode in enumerate(episodes):
        place = folder if len(episodes) == 1 else folder / f"episode_{number:03d}"
        written += film(bag, episode, topics, place)
    return written


def cameras(bag: Bag) -> dict[str, str]:
    """Topics of pictures by camera: those for films where they were recorded.

    Errors: RuleSafeError where there are none.
    """
    for wanted in (FILM, CAMERAS):
        found = {camera: topic for camera, topic in wanted.items() if topic in bag.topics}
        if found:
            return found
    raise RuleSafeError(
        f"{bag.path} has no pictures: {', '.join((*CAMERAS.values(), *FILM.values()))} are looked "
        f"for; it has {', '.join(sorted(bag.topics))}"
    )


def film(bag: Bag, episode: Episode, topics: dict[str, str], folder: Path) -> list[Path]:
    """Films one episode; the files."""
    recorder = Recorder(folder, episode.instruction)
    told = sorted(episode.tokens)
    for stamp in told:
        recorder.tokens(stamp, messages.tokens(episode.tokens[stamp]))
    history: list[Snapshot] = []
    events = []
    for frame, parts in enumerate(Sights(bag, episode, episode.frames, topics, episode.frames)):
        stamp = episode.stamp(frame)
        now = _snapshot(bag, episode, stamp)
        events += changes(history[-1].part_open if history else {}, now)
        history.append(now)
        recorder.facts(stamp, now)
        recorder.picture(HEAD, stamp, parts.get(HEAD, DARK))
        recorder.picture(FRONT, stamp, parts.get(FRONT, DARK))
    end = next((now for now in history if now.success), history[-1])
    result = EpisodeResult.of(end, events, 0.0, "the recording ends") if end.plan else None
    return recorder.close(result)


def _snapshot(bag: Bag, episode: Episode, stamp: int) -> Snapshot:
    """The facts of an instant: of the newest status, or, where there is none, name and time."""
    known: Any = [told for told in episode.statuses if told <= stamp]
    if known and stamp - max(known) < 5 * PERIOD:
        return messages.snapshot(episode.statuses[max(known)])
    return Snapshot(
        rule=bag.path.resolve().name,
        safe="",
        seed=0,
        plan=(),
        steps_done=0,
        process_score=0.0,
        order_free_score=0.0,
        part_open={},
        success=False,
        frame=(stamp - episode.start) // PERIOD,
        time=(stamp - episode.start) / SECOND,
        clipped_actions=0,
        state_digest="",
    )
