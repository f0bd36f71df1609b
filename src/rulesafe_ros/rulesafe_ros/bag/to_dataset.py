"""`rulesafe bag to-dataset`: convert the episodes of a bag to a training dataset.

The dataset equals the one that `DatasetWriter` writes directly from the simulation, except for the
parts listed in docs/dataset.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cameras import DEFAULT_CAMERAS, POINTS, POINTS_TOPIC, CameraSet
from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import exclusive_lock
from rulesafe_data.bags.reading import Bag
from rulesafe_data.frame import Frame
from rulesafe_data.writer import DatasetWriter, EpisodeData
from rulesafe_locks.rules import PARTS
from rulesafe_ros.bag.actions import ACTIONS, GUIDED
from rulesafe_ros.bag.camera_frames import CameraFrames
from rulesafe_ros.bag.episodes import BagEpisode, read_episodes


@dataclass(frozen=True)
class ConversionRequest:
    """Options of the conversion.

    Attributes:
        dataset: folder of the dataset; episodes are added to an existing one.
        actions: one of ACTIONS.
        observations: "all": all that the bags contain; "points": without images; "joints".
        instruction: replaces the recorded instruction; empty: the recorded one.
        only_opened: whether to skip episodes in which no status reports an open door.
        fill: largest distance of a frame that provides a missing image, s.
        cameras: the cameras of the bags.
    """

    dataset: Path
    actions: str = "executed"
    observations: str = "all"
    instruction: str = ""
    only_opened: bool = False
    fill: float = 0.5
    cameras: CameraSet = DEFAULT_CAMERAS


def to_dataset(
    paths: Sequence[Path], request: ConversionRequest, report: Callable[[str], None] = print
) -> int:
    """Add the episodes of bags to a dataset.

    Args:
        paths: folders of the bags.
        request: options of the conversion.
        report: called with a line for each episode that is added or skipped.

    Returns:
        The number of episodes added.

    Raises:
        RuleSafeError: no episode was added (with the last reason), or the disk is full.
    """
    with exclusive_lock(request.dataset, "rulesafe bag to-dataset"):
        writer = DatasetWriter(request.dataset, request.cameras)
        added, reason = 0, "no door was opened"
        for path in paths:
            bag = Bag(path)
            for episode in read_episodes(bag, report):
                where = f"{bag.path}, episode at {episode.start / SECOND:.1f} s"
                if request.only_opened and not _opened(episode):
                    report(f"skipped: {where}: the door was not opened")
                    continue
                try:
                    report(_add(writer, bag, episode, request, where))
                    added += 1
                except RuleSafeError as error:
                    if isinstance(error.__cause__, OSError):  # a full disk affects all episodes
                        raise
                    reason = str(error)
                    report(f"skipped: {where}: {reason}")
        if not added:
            raise RuleSafeError(f"no episode was added: {reason}")
        writer.finish()
    return added


def _opened(episode: BagEpisode) -> bool:
    return any(bool(status.success) for status in episode.statuses.values())


def _is_open(episode: BagEpisode, frame: int) -> bool:
    """Return whether /episode/status reports the open door at a frame."""
    status = episode.statuses.get(episode.stamp(frame))
    return status is not None and bool(status.success)


def _add(
    writer: DatasetWriter, bag: Bag, episode: BagEpisode, request: ConversionRequest, where: str
) -> str:
    """Add an episode, and return the line to report."""
    if request.actions not in GUIDED:
        episode = episode.from_first_chunk()
    actions = ACTIONS[request.actions](episode)
    opened = (frame for frame in range(1, len(actions)) if _is_open(episode, frame))
    length = next(opened, len(actions))  # later motions are not part of the task
    task = request.instruction or episode.instruction
    if not task:
        raise RuleSafeError(f"{bag.path} has no message on /instruction: use --instruction")
    images: CameraFrames | None = None
    if topics := _image_topics(bag, request):
        length = CameraFrames(bag, episode, length, topics).end
        if not length:
            raise RuleSafeError(
                f"{bag.path} has no images of the episode; use --observations joints"
            )
        reach = max(round(request.fill * SECOND / PERIOD), 0)
        images = CameraFrames(bag, episode, length, topics, reach)
    data = EpisodeData(
        task=task,
        joint_positions=episode.positions[:length],
        joint_velocities=episode.velocities[:length],
        actions=actions[:length],
        frames=(_frame(parts, request.cameras) for parts in images) if images else None,
        privileged=privileged(episode, length),
        facts={"bag": bag.path.name, **facts(episode), "actions": request.actions},
    )
    index = next(index for index in count() if not writer.has(index))
    writer.write(index, data)
    filled = f", {images.filled} images taken from another frame" if images else ""
    failed = ", the door was not opened" if episode.statuses and not _opened(episode) else ""
    return f"episode {index}: {where}, {len(data)} frames{filled}{failed}"


def _frame(parts: dict[str, Any], cameras: CameraSet) -> Frame:
    points = parts.pop(POINTS, None)
    return Frame({name: cameras[name].fit(image) for name, image in parts.items()}, points)


def _image_topics(bag: Bag, request: ConversionRequest) -> dict[str, str]:
    """Return those of the requested topics, by source, that the bag contains."""
    images = {camera.name: camera.topic() for camera in request.cameras}
    if missing := [topic for topic in images.values() if topic not in bag.topics]:
        if request.observations == "all" and len(missing) < len(images):
            raise RuleSafeError(
                f"{bag.path} has no {', '.join(missing)}: a dataset needs all cameras of the set "
                "(--cameras) or none (--observations points)"
            )
        images = {}
    points = {POINTS: POINTS_TOPIC} if POINTS_TOPIC in bag.topics else {}
    return {"all": images | points, "points": points, "joints": {}}[request.observations]


def privileged(episode: BagEpisode, length: int) -> dict[str, NDArray[Any]]:
    """Return the values of /episode/status at each frame, with the names used in demonstrations.

    Nothing is returned if a frame has no status, as for a real robot.
    """
    stamps = [episode.stamp(frame) for frame in range(length)]
    if not all(stamp in episode.statuses for stamp in stamps):
        return {}
    statuses = [episode.statuses[stamp] for stamp in stamps]

    def column(name: str, kind: Any) -> NDArray[Any]:
        return np.array([getattr(status, name) for status in statuses], kind)

    order = [list(statuses[0].parts).index(part) for part in PARTS]
    return {
        "safe_positions": column("part_positions", np.float32)[:, order],
        "part_open": column("part_open", np.bool_)[:, order],
        "part_locked": column("part_locked", np.bool_)[:, order],
        "steps_done": column("steps_done", np.int64),
        "contact_force": column("contact_forces", np.float32),
    }


def facts(episode: BagEpisode) -> dict[str, Any]:
    """Return the metadata of an episode."""
    known: dict[str, Any] = {"started": episode.start, "instruction": episode.instruction}
    if not episode.statuses:
        return known
    last = episode.statuses[max(episode.statuses)]
    return {
        **known,
        "rule": last.rule,
        "safe": last.safe,
        "seed": int(last.seed),
        "plan": list(last.plan),
        "success": _opened(episode),
        "digest": last.state_digest,
        "contact_names": list(last.contact_names),
    }
