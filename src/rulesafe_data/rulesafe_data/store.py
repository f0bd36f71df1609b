"""Read a dataset: single frames, batches of frames, complete episodes.

Example::

    store = EpisodeStore("demos")
    frame = store[3, 120]                                  # every key of frame 120 of episode 3
    batch = store.batch([(0, 5), (3, 120)], ["action"])    # {"action": (2, 13)}
"""

import os
import reprlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.cameras import CameraSet
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_data import layout, tables
from rulesafe_data.privileged import Privileged

if TYPE_CHECKING:
    from rulesafe_data.clouds import Clouds
    from rulesafe_data.video import Video


VIDEOS = 64
"""Maximum number of open videos, each with a file descriptor and a decoder."""


@dataclass(frozen=True)
class StoredEpisode:
    """An episode without privileged data.

    Attributes:
        index: number of the episode, from 0.
        length: number of frames.
        start: index of its first frame in the dataset.
        task: the language instruction.
    """

    index: int
    length: int
    start: int
    task: str


class EpisodeStore:
    """Random access to a finished dataset. It can be pickled and forked; files are then reopened.

    Attributes:
        root: the dataset's directory.
        keys: keys of a frame; `features` has their shapes and dtypes.
        digest: hash of the content; equal digests mean equal episodes.
        cameras: the cameras of images and point clouds.
        images: keys of the images, in the order of the cameras; empty without images.
        versions: "physics" and "renderer" of the episodes (`rulesafe_core.versions`); empty if they
            are not from the simulation, or not known.

    Raises:
        RuleSafeError: there is no finished dataset, or it has another format or version.
    """

    def __init__(self, root: Path | str):
        self.root = Path(root)
        info, extension = layout.read_info(self.root), layout.read_extension(self.root)
        self.digest: str = extension["digest"]
        self.versions: dict[str, str] = extension["versions"]
        self.features = _features(info, extension["points"])
        self.cameras = CameraSet.from_entry(extension, f"{self.root / layout.EXTENSION}")
        keys = map(layout.image_key, self.cameras.names)
        self.images = tuple(key for key in keys if key in self.features)
        self.keys = tuple(self.features)
        self.episodes = _read_episodes(self.root, info["total_episodes"])
        self._pid, self._handles = os.getpid(), _Handles(self.root)

    def __reduce__(self) -> tuple[type["EpisodeStore"], tuple[Path]]:
        return EpisodeStore, (self.root,)

    def __len__(self) -> int:
        """Number of episodes."""
        return len(self.episodes)

    @property
    def frames(self) -> int:
        """Number of frames of all episodes."""
        return sum(episode.length for episode in self.episodes)

    @cached_property
    def privileged(self) -> Privileged:
        """Privileged data (lock states, metadata); policies and memories must not use it."""
        return Privileged(self.root, len(self))

    def __getitem__(self, at: tuple[int, int]) -> dict[str, NDArray[Any]]:
        """Return all keys of one frame: `store[episode, frame]`. See `batch` for the shapes."""
        return {key: array[0] for key, array in self.batch([at]).items()}

    def batch(self, pairs: ArrayLike, keys: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
        """Return frames stacked along the first axis, in new arrays.

        Args:
            pairs: (episode, frame) of each frame, (B, 2) integers.
            keys: subset of `self.keys`; None: all.

        Returns:
            key -> (B, ...): joint vectors and point clouds float32, images (B, H, W, 3) uint8.

        Raises:
            RuleSafeError: unknown key, episode or frame.
        """
        selected, requested = self.known(keys), np.asarray(pairs, np.int64).reshape(-1, 2)
        for episode, frame in requested.tolist():
            if not 0 <= frame < self._episode(episode).length:
                length = self._episode(episode).length
                raise RuleSafeError(f"episode {episode} has frames 0 to {length - 1}, not {frame}")
        found = {key: self.empty(key, len(requested)) for key in selected}
        # Sorted by episode and frame, which opens fewer files and needs fewer seeks.
        for row in np.lexsort((requested[:, 1], requested[:, 0])).tolist():
            episode, frame = requested[row].tolist()
            for key in selected:
                found[key][row] = self._frame(key, episode, frame)
        return found

    def episode(self, index: int, keys: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
        """Return a complete episode: N rows per key. This is faster than `batch` of all its frames.

        Raises:
            RuleSafeError: unknown key or episode, or a file is incomplete.
        """
        length = self._episode(index).length
        found = {key: self._all_frames(key, index, length) for key in self.known(keys)}
        for key, array in found.items():
            if len(array) != length:
                raise RuleSafeError(f"{key} of episode {index} has {len(array)} frames of {length}")
        return found

    def empty(self, key: str, rows: int) -> NDArray[Any]:
        """Return an uninitialised array for a number of rows of a key."""
        feature = self.features[key]
        return np.empty((rows, *feature["shape"]), feature["dtype"])

    def known(self, keys: Iterable[str] | None) -> tuple[str, ...]:
        """Return the keys (None: all); raise RuleSafeError if one is unknown."""
        selected = self.keys if keys is None else tuple(keys)
        for key in selected:
            if key not in self.features:
                raise unknown_name("key", key, self.keys)
        return selected

    def _episode(self, index: int) -> StoredEpisode:
        if not 0 <= index < len(self):
            raise RuleSafeError(f"{self.root} has episodes 0 to {len(self) - 1}, not {index}")
        return self.episodes[index]

    @property
    def _open(self) -> "_Handles":
        if self._pid != os.getpid():  # a forked process must not share the parent's file positions
            self._pid, self._handles = os.getpid(), _Handles(self.root)
        return self._handles

    def _frame(self, key: str, episode: int, frame: int) -> NDArray[Any]:
        if key in self.images:
            return self._open.video(episode, key).frame(frame)
        if key == layout.POINTS:
            return self._open.clouds(episode).frame(frame)
        return self._column(key, episode)[frame]

    def _all_frames(self, key: str, episode: int, length: int) -> NDArray[Any]:
        if key in self.images:
            found = self.empty(key, length)
            count = 0
            for count, image in enumerate(self._open.video(episode, key).frames(), 1):
                if count <= length:
                    found[count - 1] = image
            return found if count >= length else found[:count]
        if key == layout.POINTS:
            return self._open.clouds(episode).frames()
        return self._column(key, episode).copy()

    def _column(self, key: str, episode: int) -> NDArray[Any]:
        table = self._open.table(episode)
        if key not in table:
            path = layout.data_file(self.root, episode)
            raise RuleSafeError(f"{path} has no column {reprlib.repr(key)} of {layout.INFO}")
        return table[key]


class _Handles:
    """Recently used tables (0.2 MB for 600 frames), videos and point clouds, kept open in one
    process, since opening a file takes longer than reading a frame."""

    def __init__(self, root: Path):
        self._root = root
        self.table = lru_cache(256)(self._read_table)
        self.clouds = lru_cache(256)(self._open_clouds)
        self._videos: OrderedDict[Path, Video] = OrderedDict()

    def video(self, episode: int, key: str) -> "Video":
        from rulesafe_data.video import Video

        path = layout.video_file(self._root, key, episode)
        if path not in self._videos:
            self._videos[path] = Video(path)
            if len(self._videos) > VIDEOS:
                self._videos.popitem(last=False)[1].close()  # releases its file and threads
        self._videos.move_to_end(path)
        return self._videos[path]

    def _read_table(self, episode: int) -> dict[str, NDArray[Any]]:
        path = layout.data_file(self._root, episode)
        try:
            return tables.read_columns(path)
        except OSError as error:
            raise RuleSafeError(f"cannot read the table {path}: {error}") from error

    def _open_clouds(self, episode: int) -> "Clouds":
        from rulesafe_data.clouds import Clouds

        return Clouds(self._root, episode)


def _features(info: dict[str, Any], points: int | None) -> dict[str, dict[str, Any]]:
    """Return the shape of one frame and the dtype of each key."""
    found: dict[str, dict[str, Any]] = {}
    for key, feature in info["features"].items():
        shape = () if key in (*layout.INDEX_KEYS, layout.SUBTASK) else tuple(feature["shape"])
        dtype = "uint8" if feature["dtype"] == "video" else feature["dtype"]
        found[key] = {"shape": shape, "dtype": dtype}
    if points is not None:
        found[layout.POINTS] = {"shape": (points, 6), "dtype": "float32"}
    return found


def _read_episodes(root: Path, count: int) -> Sequence[StoredEpisode]:
    names = ["episode_index", "length", "dataset_from_index", "tasks"]
    rows: list[dict[str, Any]] = []
    for path in sorted((root / "meta" / "episodes").glob("*/*.parquet")):
        with tables.open_table(path) as file:
            if file.metadata.num_rows > count:
                raise RuleSafeError(f"{path} has more than the dataset's {count} episodes")
            rows += file.read(names, use_threads=False).to_pylist()
    if [row["episode_index"] for row in rows] != list(range(len(rows))) or len(rows) != count:
        raise RuleSafeError(f"{root} is damaged: meta/episodes does not list 0 to {count - 1}")
    return tuple(
        StoredEpisode(
            row["episode_index"], row["length"], row["dataset_from_index"], row["tasks"][0]
        )
        for row in rows
    )
