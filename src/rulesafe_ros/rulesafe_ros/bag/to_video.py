"""`rulesafe bag to-video`: films of a bag's episodes.

They show both cameras, the memory's tokens and, where /episode/status was recorded, the plan.
"""

from collections.abc import Callable
from math import inf
from pathlib import Path

import numpy as np

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags.reading import Bag
from rulesafe_demos.film.episode import FilmRecorder
from rulesafe_demos.film.film import Picture
from rulesafe_demos.film.messages import decode_memory, decode_status
from rulesafe_ros.bag.camera_frames import CAMERAS, FILM, FRONT, HEAD, CameraFrames
from rulesafe_ros.bag.episodes import BagEpisode, read_episodes
from rulesafe_sim.episode import EpisodeTracker, TaskSnapshot

BLANK: Picture = np.full((64, 64, 3), 17, np.uint8)
"""In place of a camera that was not recorded."""


def to_video(path: Path, folder: Path, report: Callable[[str], None] = print) -> list[Path]:
    """Film every episode of a bag.

    Args:
        path: folder of the bag.
        folder: where the film goes; the films of several episodes go into folders below it.
        report: called with a line for each thing that is left out.

    Returns:
        The files.

    Raises:
        RuleSafeError: the bag has no images, or no complete episode.
    """
    bag = Bag(path)
    topics = cameras(bag)
    episodes = read_episodes(bag, report)
    written: list[Path] = []
    for number, episode in enumerate(episodes):
        place = folder if len(episodes) == 1 else folder / f"episode_{number:03d}"
        written += film(bag, episode, topics, place)
    return written


def cameras(bag: Bag) -> dict[str, str]:
    """Return the image topics by camera: those for films where they were recorded.

    Raises:
        RuleSafeError: the bag has none.
    """
    for wanted in (FILM, CAMERAS):
        found = {camera: topic for camera, topic in wanted.items() if topic in bag.topics}
        if found:
            return found
    raise RuleSafeError(
        f"{bag.path} has no pictures: {', '.join((*CAMERAS.values(), *FILM.values()))} are looked "
        f"for; it has {', '.join(sorted(bag.topics))}"
    )


def film(bag: Bag, episode: BagEpisode, topics: dict[str, str], folder: Path) -> list[Path]:
    """Film one episode and return the files."""
    recorder, tracker = FilmRecorder(folder, episode.instruction), EpisodeTracker(inf)
    for stamp in sorted(episode.tokens):
        recorder.tokens(stamp, decode_memory(episode.tokens[stamp]))
    images = CameraFrames(bag, episode, episode.frames, topics, episode.frames)
    for frame, pictures in enumerate(images):
        stamp = episode.stamp(frame)
        now = _snapshot(bag, episode, stamp)
        tracker.update(now)
        recorder.facts(stamp, now)
        recorder.picture(HEAD, stamp, pictures.get(HEAD, BLANK))
        recorder.picture(FRONT, stamp, pictures.get(FRONT, BLANK))
    record = tracker.record or tracker.end("the recording ends")
    return recorder.close(record if record.plan else None)


def _snapshot(bag: Bag, episode: BagEpisode, stamp: int) -> TaskSnapshot:
    """Return the newest status, or only name and time where there is no recent one."""
    newest = max((known for known in episode.statuses if known <= stamp), default=None)
    if newest is not None and stamp - newest < 5 * PERIOD:
        return decode_status(episode.statuses[newest])
    passed = stamp - episode.start
    name = bag.path.resolve().name
    return TaskSnapshot(name, frame=passed // PERIOD, time=passed / SECOND)
