"""Write a dataset episode by episode, from any number of processes.

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
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cameras import DEFAULT_CAMERAS, CameraSet
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_INDICES
from rulesafe_data import layout, meta, tables
from rulesafe_data.frame import Frame
from rulesafe_data.statistics import of_array


@dataclass(frozen=True)
class EpisodeData:
    """An episode of N frames at 10 Hz; the observation of frame t precedes its action.

    Attributes:
        task: the language instruction.
        joint_positions, joint_velocities: (N, 39) rad and rad/s, in the order of `ALL_JOINTS`.
        actions: (N, 13) rad, in the order of `ACTION_JOINTS`.
        frames: N frames (may be a generator); None: neither images nor point clouds. All episodes
            of a dataset must agree.
        privileged: columns (N,) or (N, D) that no policy may read.
        facts: facts about the episode (rule, safe, seed ...), JSON; also privileged.
        subtasks: (N,) subtask of the demonstrator, indices into `layout.SUBTASKS`; None: unknown.
            All episodes of a dataset must agree.

    Raises:
        RuleSafeError: shapes are inconsistent, or a number is not finite.
    """

    task: str
    joint_positions: NDArray[np.floating]
    joint_velocities: NDArray[np.floating]
    actions: NDArray[np.floating]
    frames: Iterable[Frame] | None = None
    privileged: Mapping[str, NDArray] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    subtasks: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        for key, array in self.recorded().items():
            expected = (len(self), len(layout.JOINT_NAMES[key]))
            if array.shape != expected or not len(self):
                raise RuleSafeError(f"{key} must have shape {expected}, N > 0; got {array.shape}")
            if not np.isfinite(array).all():
                raise RuleSafeError(f"{key} contains values that are not finite")
        if self.subtasks is not None and self.subtasks.shape != (len(self),):
            raise RuleSafeError(
                f"subtasks must have shape {(len(self),)}; got {self.subtasks.shape}"
            )
        for name, column in self.privileged.items():
            if len(column) != len(self):
                raise RuleSafeError(
                    f"privileged column {name!r} has {len(column)} values; the episode has "
                    f"{len(self)} frames"
                )

    def __len__(self) -> int:
        return len(self.actions)

    def recorded(self) -> dict[str, NDArray[np.float32]]:
        """Return the recorded joint vectors of the frames by their keys in the dataset, float32."""
        given = (self.joint_positions, self.joint_velocities, self.actions)
        named = zip(layout.RECORDED_KEYS, given, strict=True)
        return {key: np.asarray(array, np.float32) for key, array in named}

    def vectors(self) -> dict[str, NDArray[np.float32]]:
        """Return all joint vectors of the frames by their keys in the dataset, float32."""
        recorded = self.recorded()
        return {layout.STATE: recorded[layout.ALL_POSITIONS][:, ACTION_INDICES], **recorded}


class DatasetWriter:
    """Writes a dataset to `root`, which is created if needed.

    `write` writes each file atomically, the table last: `has` and `finish` ignore incomplete
    episodes, so a killed process loses only its current episode. Several processes may write
    different episodes concurrently. `finish` creates the dataset from the existing episodes and may
    be called again after more were written; readers see the dataset as of the last `finish`.

    Args:
        root: folder of the dataset.
        cameras: the cameras of images and point clouds.
        versions: "physics" and "renderer" of the episodes (`rulesafe_core.versions`); empty if they
            are not from the simulation, or not known.

    Raises:
        RuleSafeError: `root` contains a dataset of another kind or version, or of other cameras.
    """

    def __init__(
        self,
        root: Path | str,
        cameras: CameraSet = DEFAULT_CAMERAS,
        versions: Mapping[str, str] = MappingProxyType({}),
    ):
        self.root, self._cameras, self._versions = Path(root), cameras, dict(versions)
        if (self.root / layout.INFO).exists():
            layout.read_info(self.root)
            extension = layout.read_extension(self.root)
            if extension.get("cameras") != cameras.to_entry().get("cameras"):
                raise RuleSafeError(f"{root} is a dataset of other cameras; use another directory")
            if (there := extension["versions"]) != self._versions:
                raise RuleSafeError(
                    f"{root} is a dataset of {_text(there)}, and the new episodes are of "
                    f"{_text(self._versions)}; use another directory"
                )

    def has(self, index: int) -> bool:
        """Return whether a complete episode with this number exists."""
        return layout.data_file(self.root, index).is_file()

    def is_intact(self, index: int) -> bool:
        """Return whether a complete episode with this number exists whose tables can be read.

        Videos and point clouds must exist; their content is not read.
        """
        if not self.has(index):
            return False
        path = layout.data_file(self.root, index)
        try:
            about = tables.about(path)
            tables.read_columns(path)
            tables.read_columns(layout.privileged_file(self.root, index))
        except (RuleSafeError, FileNotFoundError):
            return False
        parts = [layout.video_file(self.root, key, index) for key in about.get("pictures", ())]
        if about.get("points"):
            parts.append(self.root / layout.CLOUDS / layout.cloud_name(index))
        return all(part.exists() for part in parts)

    def write(self, index: int, episode: EpisodeData) -> None:
        """Write an episode; an existing one with this number is deleted first.

        Raises:
            RuleSafeError: the disk is full (other episodes are kept), the number of frames differs
                from that of the actions, or their shapes differ.
        """
        if index < 0:
            raise RuleSafeError(f"the episode number is {index}; valid: 0 or more")
        layout.data_file(self.root, index).unlink(missing_ok=True)
        vectors = episode.vectors()
        recorded = episode.recorded()
        digest = hashlib.sha256(episode.task.encode())
        labels: dict[str, NDArray] = {}
        if episode.subtasks is not None:
            labels[layout.SUBTASK] = episode.subtasks
        for array in (*recorded.values(), *labels.values()):
            digest.update(array.tobytes())
        about: dict[str, Any] = {
            "task": episode.task,
            "statistics": {key: of_array(array) for key, array in (vectors | labels).items()},
            "subtasks": bool(labels),
            "image_shape": None,
            "points": None,
            "versions": self._versions,
            **self._cameras.to_entry(),
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
            "index": count,  # `index` and `task_index` are updated by meta.finish
            "task_index": np.zeros(len(episode), np.int64),
        }
        table = tables.to_table({**vectors, **labels, **numbers}, about)
        tables.write_table(layout.data_file(self.root, index), table)

    def _write_frames(
        self, index: int, length: int, frames: Iterable[Frame], digest: Any
    ) -> dict[str, Any]:
        """Write videos and point clouds; return their metadata."""
        from rulesafe_data.frame_writer import FrameWriter  # needs av, and numcodecs for clouds

        writer = FrameWriter(self.root, index, length, self._cameras)
        try:
            for frame in frames:
                writer.add(frame)
            return writer.finish(digest)
        finally:
            writer.close()

    def finish(self) -> None:
        """Write meta/ for the existing episodes; call it while no process writes.

        Raises:
            RuleSafeError: there is no episode, the episode numbers have a gap, or only some
                episodes have images or point clouds.
        """
        meta.finish(self.root)


def _text(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in versions.items()) or "unknown versions"
