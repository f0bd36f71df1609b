"""`rulesafe bag to-dataset`: the episodes of a bag in the format that policies are trained with.

What the bag has, the dataset has as `DatasetWriter` would have written it directly: docs/bags.md
says what a bag has not. No ROS here.
"""

from collections.abc import Callable, Iterator, Sequence
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
from rulesafe_ros.bag.episodes import Episode, read_episodes
from rulesafe_ros.bag.scene_features import CAMERAS, CLOUD, FRONT, HEAD, POINTS, Sights

SHOWN = {"all": CAMERAS | CLOUD, "points": CLOUD, "joints": {}}
"""Topics by kind, by what a dataset is to hold."""


@dataclass(frozen=True)
class Request:
    """What the dataset is to hold.

    Attributes:
        dataset: its folder. Episodes are added to one that is there.
        actions: one of ACTIONS.
        observations: one of SHOWN; "all": what the bags have.
        instruction: in place of the recorded one; empty: that.
        only_opened: leave out episodes in which the door was not opened, or nobody told.
        fill: s from which a missing picture may be taken.
    """

    dataset: Path
    actions: str = "newest"
    observations: str = "all"
    instruction: str = ""
    only_opened: bool = False
    fill: float = 0.5


def to_dataset(paths: Sequence[Path], request: Request, said: Callable[[str], None] = print) -> int:
    """Adds the episodes of bags to a dataset; how many. `said` hears what was left out, and why.

    An episode that lacks what the dataset needs is left out. Errors: RuleSafeError where none is
    left, with the reason, and on a full disk.
    """
    with exclusive_lock(request.dataset, "rulesafe bag to-dataset"):
        writer = DatasetWriter(request.dataset)
        added, reason = 0, "none was opened"
        for path in paths:
            bag = Bag(path)
            for episode in read_episodes(bag, said):
                where = f"{bag.path}, episode at {episode.start / SECOND:.1f} s"
                try:
                    added += _add(writer, bag, episode, request, said)
                except RuleSafeError as error:
                    if isinstance(error.__cause__, OSError):  # no room: the next has none either
                        raise
                    reason = str(error)
                    said(f"left out: {where}: {reason}")
        if not added:
            raise RuleSafeError(f"no episode was left: {reason}")
        writer.finish()
    return added


def _add(
    writer: DatasetWriter,
    bag: Bag,
    episode: Episode,
    request: Request,
    said: Callable[[str], None],
) -> int:
    """Adds an episode; how many there are more, 1 or 0."""
    where = f"{bag.path}, episode at {episode.start / SECOND:.1f} s"
    opened = any(bool(status.success) for status in episode.statuses.values())
    if request.only_opened and not opened:
        said(f"left out: {where}: not opened")
        return 0
    index = next(index for index in count() if not writer.has(index))
    data, sights = episode_data(bag, episode, request)
    writer.write(index, data)
    filled = f", {sights.filled} pictures of a neighbouring frame" if sights else ""
    said(f"episode {index}: {where}, {len(data)} frames{filled}")
    return 1


def episode_data(bag: Bag, episode: Episode, request: Request) -> tuple[EpisodeData, Sights | None]:
    """An episode as a dataset has it, and where its pictures come from (None: nowhere)."""
    episode = episode if request.actions in GUIDED else episode.acted()
    actions = ACTIONS[request.actions](episode)
    length = len(actions)
    task = request.instruction or episode.instruction
    if not task:
        raise RuleSafeError(f"{bag.path} has no /instruction: give one with --instruction")
    topics = {k: t for k, t in SHOWN[request.observations].items() if t in bag.topics}
    if (HEAD in topics) != (FRONT in topics):
        missing = CAMERAS[FRONT if HEAD in topics else HEAD]
        raise RuleSafeError(
            f"{bag.path} has no {missing}: a dataset has both cameras or none "
            "(--observations points)"
        )
    sights = None
    if topics:
        reach = max(round(request.fill * SECOND / PERIOD), 0)
        length = Sights(bag, episode, length, topics).end
        if not length:
            raise RuleSafeError(f"{bag.path} has no pictures of the episode: --observations joints")
        sights = Sights(bag, episode, length, topics, reach)
    return (
        EpisodeData(
            task=task,
            joint_positions=episode.positions[:length],
            joint_velocities=episode.velocities[:length],
            actions=actions[:length],
            frames=_frames(sights) if sights else None,
            privileged=privileged(episode, length),
            facts={"bag": bag.path.name, **facts(episode), "actions": request.actions},
        ),
        sights,
    )


def _frames(sights: Sights) -> Iterator[Frame]:
    for parts in sights:
        yield Frame(parts.get(HEAD), parts.get(FRONT), parts.get(POINTS))


def privileged(episode: Episode, length: int) -> dict[str, NDArray[Any]]:
    """What /episode/status told of the frames, named as in demonstrations; nothing where it did not
    tell of each, as on a robot."""
    told = [episode.statuses.get(episode.stamp(frame)) for frame in range(length)]
    if any(status is None for status in told):
        return {}
    statuses: list[Any] = told

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


def facts(episode: Episode) -> dict[str, Any]:
    """What is known of an episode as a whole."""
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
        "success": any(bool(status.success) for status in episode.statuses.values()),
        "digest": last.state_digest,
        "contact_names": list(last.contact_names),
    }
