"""`rulesafe bag to-video`: render videos of a bag's episodes.

A video shows the cameras, the memory tokens and, if /episode/status was recorded, the plan.
"""

import re
from collections.abc import Callable
from math import inf
from pathlib import Path

from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags.reading import Bag
from rulesafe_data.films.episode import VideoRecorder
from rulesafe_data.films.messages import decode_memory, decode_status
from rulesafe_ros.bag.camera_frames import CameraFrames
from rulesafe_ros.bag.episodes import BagEpisode, read_episodes
from rulesafe_sim.episode import EpisodeTracker, TaskSnapshot

IMAGE_TOPICS = (r"/film/(\w+)/compressed", r"/camera/(\w+)/image_raw")
"""Patterns of the image topics, in the order of preference; the group is the camera."""


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
    for pattern in IMAGE_TOPICS:
        matches = [match for topic in bag.topics if (match := re.fullmatch(pattern, topic))]
        found = {match[1]: match[0] for match in matches}
        if found:
            order = dict.fromkeys((*DEFAULT_CAMERAS.names, *sorted(found)))
            return {camera: found[camera] for camera in order if camera in found}
    raise RuleSafeError(
        f"{bag.path} has no images on {' or '.join(IMAGE_TOPICS)}; "
        f"topics of the bag: {', '.join(sorted(bag.topics))}"
    )


def film(bag: Bag, episode: BagEpisode, topics: dict[str, str], folder: Path) -> list[Path]:
    """Render one episode, and return the paths of the files."""
    recorder = VideoRecorder(folder, episode.instruction, tuple(topics))
    tracker = EpisodeTracker(inf)
    for stamp in sorted(episode.tokens):
        recorder.tokens(stamp, decode_memory(episode.tokens[stamp]))
    camera_frames = CameraFrames(bag, episode, episode.frames, topics, episode.frames)
    for frame, images in enumerate(camera_frames):
        stamp = episode.stamp(frame)
        now = _snapshot(bag, episode, stamp)
        tracker.update(now)
        recorder.facts(stamp, now)
        for camera, image in images.items():
            recorder.add_image(camera, stamp, image)
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
