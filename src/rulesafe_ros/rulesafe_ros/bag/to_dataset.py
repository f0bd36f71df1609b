"""`rulesafe bag to-dataset`: convert the episodes of a bag to a training dataset.

The dataset equals the one that `DatasetWriter` writes directly from the simulation, except for the
parts listed in docs/bags.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import exclusive_lock
from rulesafe_data.bags.reading import Bag
from rulesafe_data.frame import Frame
from rulesafe_data.writer import DatasetWriter, EpisodeData
from rulesafe_locks.rules import PARTS
from rulesafe_ros.bag.actions import ACTIONS, GUIDED
from rulesafe_ros.bag.camera_frames import CAMERAS, CLOUD, FRONT, HEAD, POINTS, CameraFrames
from rulesafe_ros.bag.episodes import BagEpisode, read_episodes

OBSERVATIONS = {"all": CAMERAS | CLOUD, "points": CLOUD, "joints": {}}
"""Image and point cloud topics by source, for each choice of observations."""


@dataclass(frozen=True)
class ConversionRequest:
    """Options of the conversion.

    Attributes:
        dataset: folder of the dataset; episodes are added to an existing one.
        actions: one of ACTIONS.
        observations: one of OBSERVATIONS; "all": all that the bags contain.
        instruction: replaces the recorded instruction; empty: the recorded one.
        only_opened: whether to skip episodes in which no status reports an open door.
        fill: largest distance of a frame that provides a missing image, s.
    """

    dataset: Path
    actions: str = "newest"
    observations: str = "all"
    instruction: str = ""
    only_opened: bool = False
    fill: float = 0.5


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
        writer = DatasetWriter(request.dataset)
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


def _add(
    writer: DatasetWriter, bag: Bag, episode: BagEpisode, request: ConversionRequest, where: str
) -> str:
    """Add an episode, and return the line to report."""
    if request.actions not in GUIDED:
        episode = episode.from_first_chunk()
    actions = ACTIONS[request.actions](episode)
    length = len(actions)
    task = request.instruction or episode.instruction
    if not task:
        raise RuleSafeError(f"{bag.path} has no message on /instruction: use --instruction")
    images: CameraFrames | None = None
    if topics := _image_topics(bag, request.observations):
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
        frames=(Frame(p.get(HEAD), p.get(FRONT), p.get(POINTS)) for p in images)
        if images
        else None,
        privileged=privileged(episode, length),
        facts={"bag": bag.path.name, **facts(episode), "actions": request.actions},
    )
    index = next(index for index in count() if not writer.has(index))
    writer.write(index, data)
    filled = f", {images.filled} images taken from another frame" if images else ""
    return f"episode {index}: {where}, {len(data)} frames{filled}"


def _image_topics(bag: Bag, observations: str) -> dict[str, str]:
    """Return those of the requested topics, by source, that the bag contains."""
    wanted = OBSERVATIONS[observations].items()
    topics = {source: topic for source, topic in wanted if topic in bag.topics}
    if (HEAD in topics) != (FRONT in topics):
        missing = CAMERAS[FRONT if HEAD in topics else HEAD]
        raise RuleSafeError(
            f"{bag.path} has no {missing}: a dataset needs both cameras or none "
            "(--observations points)"
        )
    return topics


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
