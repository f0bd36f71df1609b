"""`rulesafe bag to-video`: render videos of a bag's episodes.

A video shows both cameras, the memory tokens and, if /episode/status was recorded, the plan.
"""

from collections.abc import Callable
from math import inf
from pathlib import Path

import numpy as np

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags.reading import Bag
from rulesafe_data.films.episode import VideoRecorder
from rulesafe_data.films.frames import RgbImage
from rulesafe_data.films.messages import decode_memory, decode_status
from rulesafe_ros.bag.camera_frames import CAMERAS, FILM, FRONT, HEAD, CameraFrames
from rulesafe_ros.bag.episodes import BagEpisode, read_episodes
from rulesafe_sim.episode import EpisodeTracker, TaskSnapshot

BLANK: RgbImage = np.full((64, 64, 3), 17, np.uint8)
"""Image in place of a camera that was not recorded."""


def to_video(path: Path, folder: Path, report: Callable[[str], None] = print) -> list[Path]:
    """Render a video of every episode of a bag.

    Args:
        path: folder of the bag.
        folder: output folder; several episodes get a subfolder each.
        report: called with a line for each skipped part.

    Returns:
        The paths of the written files.

    Raises:
        RuleSafeError: the bag has no images, or no complete episode.
    """
    bag = Bag(path)
    topics = cameras(bag)
    episodes = read_episodes(bag, report)
    written: list[Path] = []
    for number, episode in enumerate(episodes):
        target = folder if len(episodes) == 1 else folder / f"episode_{number:03d}"
        written += film(bag, episode, topics, target)
    return written


def cameras(bag: Bag) -> dict[str, str]:
    """Return the image topics by camera: the video topics if they were recorded.

    Raises:
        RuleSafeError: the bag has no image topic.
    """
    for wanted in (FILM, CAMERAS):
        found = {camera: topic for camera, topic in wanted.items() if topic in bag.topics}
        if found:
            return found
    raise RuleSafeError(
        f"{bag.path} has no images on {', '.join((*CAMERAS.values(), *FILM.values()))}; "
        f"topics of the bag: {', '.join(sorted(bag.topics))}"
    )


def film(bag: Bag, episode: BagEpisode, topics: dict[str, str], folder: Path) -> list[Path]:
    """Render one episode, and return the paths of the files."""
    recorder, tracker = VideoRecorder(folder, episode.instruction), EpisodeTracker(inf)
    for stamp in sorted(episode.tokens):
        recorder.tokens(stamp, decode_memory(episode.tokens[stamp]))
    camera_frames = CameraFrames(bag, episode, episode.frames, topics, episode.frames)
    for frame, images in enumerate(camera_frames):
        stamp = episode.stamp(frame)
        now = _snapshot(bag, episode, stamp)
        tracker.update(now)
        recorder.facts(stamp, now)
        recorder.add_image(HEAD, stamp, images.get(HEAD, BLANK))
        recorder.add_image(FRONT, stamp, images.get(FRONT, BLANK))
    record = tracker.record or tracker.end("the recording ended")
    return recorder.close(record if record.plan else None)


def _snapshot(bag: Bag, episode: BagEpisode, stamp: int) -> TaskSnapshot:
    """Return the newest status, or a snapshot with only name and time without a recent status."""
    newest = max((known for known in episode.statuses if known <= stamp), default=None)
    if newest is not None and stamp - newest < 5 * PERIOD:
        return decode_status(episode.statuses[newest])
    passed = stamp - episode.start
    name = bag.path.resolve().name
    return TaskSnapshot(name, frame=passed // PERIOD, time=passed / SECOND)
