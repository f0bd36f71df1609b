"""`rulesafe bag to-dataset`: the episodes of a bag in the format that policies are trained with.

The dataset is the one that `DatasetWriter` would have written directly; docs/bags.md lists what a
bag lacks.
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
    """What the dataset is to hold.

    Attributes:
        dataset: its folder; episodes are added to an existing one.
        actions: one of ACTIONS.
        observations: one of OBSERVATIONS; "all": what the bags have.
        instruction: replaces the recorded one; empty: the recorded one.
        only_opened: skip episodes in which no status reports that the door was opened.
        fill: s from which a missing image may be taken.
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
        request: what the dataset is to hold.
        report: called with a line for each episode that is added or left out.

    Returns:
        The number of episodes added.

    Raises:
        RuleSafeError: no episode is left, with the last reason; the disk is full.
    """
    with exclusive_lock(request.dataset, "rulesafe bag to-dataset"):
        writer = DatasetWriter(request.dataset)
        added, reason = 0, "none was opened"
        for path in paths:
            bag = Bag(path)
            for episode in read_episodes(bag, report):
                where = f"{bag.path}, episode at {episode.start / SECOND:.1f} s"
                if request.only_opened and not _opened(episode):
                    report(f"left out: {where}: not opened")
                    continue
                try:
                    report(_add(writer, bag, episode, request, where))
                    added += 1
                except RuleSafeError as error:
                    if isinstance(error.__cause__, OSError):  # the disk is full for the next, too
                        raise
                    reason = str(error)
                    report(f"left out: {where}: {reason}")
        if not added:
            raise RuleSafeError(f"no episode was left: {reason}")
        writer.finish()
    return added


def _opened(episode: BagEpisode) -> bool:
    return any(bool(status.success) for status in episode.statuses.values())


def _add(
    writer: DatasetWriter, bag: Bag, episode: BagEpisode, request: ConversionRequest, where: str
) -> str:
    """Add an episode; return the line that reports it."""
    if request.actions not in GUIDED:
        episode = episode.from_first_chunk()
    actions = ACTIONS[request.actions](episode)
    length = len(actions)
    task = request.instruction or episode.instruction
    if not task:
        raise RuleSafeError(f"{bag.path} has no /instruction: give one with --instruction")
    images: CameraFrames | None = None
    if topics := _image_topics(bag, request.observations):
        length = CameraFrames(bag, episode, length, topics).end
        if not length:
            raise RuleSafeError(f"{bag.path} has no pictures of the episode: --observations joints")
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
    filled = f", {images.filled} pictures of a neighbouring frame" if images else ""
    return f"episode {index}: {where}, {len(data)} frames{filled}"


def _image_topics(bag: Bag, observations: str) -> dict[str, str]:
    """Return the wanted topics by source that the bag has."""
    wanted = OBSERVATIONS[observations].items()
    topics = {source: topic for source, topic in wanted if topic in bag.topics}
    if (HEAD in topics) != (FRONT in topics):
        missing = CAMERAS[FRONT if HEAD in topics else HEAD]
        raise RuleSafeError(
            f"{bag.path} has no {missing}: a dataset has both cameras or none "
            "(--observations points)"
        )
    return topics


def privileged(episode: BagEpisode, length: int) -> dict[str, NDArray[Any]]:
    """Return /episode/status of each frame, named as in demonstrations.

    Nothing is returned if a frame has no status, as on a robot.
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
    """Return the facts of an episode as a whole."""
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
