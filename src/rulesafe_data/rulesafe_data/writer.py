"""Writes episodes one at a time, from any number of processes, so that a kill loses only one.

Example::

    writer = DatasetWriter(Path("demos"))
    for index, episode in enumerate(episodes):
        if not writer.has(index):
            writer.write(index, episode)
    writer.finish()
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_data import layout, meta, tables
from rulesafe_data.frame import Frame
from rulesafe_data.statistics import of_array


@dataclass(frozen=True)
class EpisodeData:
    """An episode of N frames at 10 Hz; the observation of frame t was made before its action.

    Attributes:
        task: the language instruction.
        joint_positions, joint_velocities: (N, 39) rad and rad/s, in the order of `ALL_JOINTS`.
        actions: (N, 13) rad, in the order of `ACTION_JOINTS`, commanded at frame t.
        frames: N of them, one after another (a generator will do); None: neither pictures nor
            clouds. All episodes of a dataset have the same.
        privileged: columns (N,) or (N, D) that no policy may read.
        facts: what is true of the whole episode (rule, safe, seed ...), JSON; privileged too.

    Errors: RuleSafeError if shapes disagree or a number is not finite.
    """

    task: str
    joint_positions: NDArray[np.floating]
    joint_velocities: NDArray[np.floating]
    actions: NDArray[np.floating]
    frames: Iterable[Frame] | None = None
    privileged: Mapping[str, NDArray] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, array in self.vectors().items():
            wanted = (len(self), len(layout.JOINT_NAMES[key]))
            if array.shape != wanted or not len(self):
                raise RuleSafeError(f"{key} must have the shape {wanted}, N > 0; got {array.shape}")
            if not np.isfinite(array).all():
                raise RuleSafeError(f"{key} holds numbers that are not finite")
        for name, column in self.privileged.items():
            if len(column) != len(self):
                raise RuleSafeError(f"privileged {name!r} has {len(column)} rows, not {len(self)}")

    def __len__(self) -> int:
        return len(self.actions)

    def vectors(self) -> dict[str, NDArray[np.float32]]:
        """The vectors of each frame by their keys in the dataset, float32."""
        given = (self.joint_positions, self.joint_velocities, self.actions)
        named = zip(layout.TABLE_KEYS, given, strict=True)
        return {key: np.asarray(array, np.float32) for key, array in named}


class DatasetWriter:
    """Writes a dataset below `root`, which is made if it is missing.

    `write` puts each file into place whole, the table last: an episode is either complete or, for
    `has` and for `finish`, not there. Different processes may write different episodes at once.
    `finish` makes the dataset of the episodes that are there and may be called again after more
    were written; readers see the dataset as of the last `finish`.

    Errors: RuleSafeError if a dataset of another kind or version is there.
    """

    def __init__(self, root: Path | str):
        self.root = Path(root)
        if (self.root / layout.INFO).exists():
            layout.read_info(self.root)
            layout.read_own(self.root)

    def has(self, index: int) -> bool:
        """Whether a complete episode of this number is there."""
        return layout.data_file(self.root, index).is_file()

    def write(self, index: int, episode: EpisodeData) -> None:
        """Write an episode; one of this number that is there is dropped first.

        Errors: RuleSafeError on a full disk (the other episodes stay), and if the frames are not
        as many as the actions or differ in shape.
        """
        if index < 0:
            raise RuleSafeError(f"an episode's number is 0 or more, not {index}")
        layout.data_file(self.root, index).unlink(missing_ok=True)
        vectors = episode.vectors()
        digest = hashlib.sha256(episode.task.encode())
        for array in vectors.values():
            digest.update(array.tobytes())
        about: dict[str, Any] = {
            "task": episode.task,
            "statistics": {key: of_array(array) for key, array in vectors.items()},
            "image_shape": None,
            "points": None,
        }
        if episode.frames is not None:
            about |= self._write_frames(index, len(episode), episode.frames, digest)
        about["digest"] = digest.hexdigest()
        count = np.arange(len(episode))
        privileged: dict[str, NDArray] = {"frame_index": count, **episode.privileged}
        tables.write_table(
            layout.privileged_file(self.root, index),
            tables.to_table(privileged, {"facts": dict(episode.facts)}),
        )
        numbers: dict[str, NDArray] = {
            "timestamp": (count / layout.FPS).astype(np.float32),
            "frame_index": count,
            "episode_index": np.full(len(episode), index),
            "index": count,  # this and the next as if it were the only episode: see meta.finish
            "task_index": np.zeros(len(episode), np.int64),
        }
        table = tables.to_table({**vectors, **numbers}, about)
        tables.write_table(layout.data_file(self.root, index), table)

    def _write_frames(
        self, index: int, length: int, frames: Iterable[Frame], digest: Any
    ) -> dict[str, Any]:
        """Write videos and clouds; what is to be known about them."""
        from rulesafe_data.frame_writer import FrameWriter  # needs av, and zarr for clouds

        writer = FrameWriter(self.root, index, length)
        try:
            for frame in frames:
                writer.add(frame)
            return writer.finish(digest)
        finally:
            writer.close()

    def finish(self) -> None:
        """Write meta/ for the episodes that are there; call it when no process writes.

        Errors: RuleSafeError if there is none, if a number is missing between them, or if some
        have pictures or clouds and others not.
        """
        meta.finish(self.root)
