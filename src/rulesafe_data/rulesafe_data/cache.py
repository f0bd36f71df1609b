"""Cache of decoded frames in memory-mapped files, for training.

The directory contains for each key `KEY.npy` (all frames of all episodes, readable with
`numpy.load`) and `KEY.done` (one line per cached episode). An interrupted build is resumed; a
changed dataset is detected.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.files import disk_full_errors, draft_file, locked, write_atomically
from rulesafe_core.text_files import read_json
from rulesafe_data.files import write_json
from rulesafe_data.store import EpisodeStore

ABOUT = "cache.json"


class FrameCache:
    """Memory-mapped arrays of selected keys of a dataset.

    Attributes:
        arrays: key -> (F, ...) for all F frames of the dataset, read-only.
        starts: (E,) index of each episode's first frame in `arrays`.
        lengths: (E,) number of frames of each episode.

    Raises:
        RuleSafeError: the directory contains the cache of another or a changed dataset, or there is
            not enough disk space, which is reserved before decoding.
    """

    def __init__(self, store: EpisodeStore, keys: Iterable[str] | None, directory: Path | str):
        self.directory = directory = Path(directory)
        keys = store.known(keys)
        self.starts = np.array([episode.start for episode in store.episodes])
        self.lengths = np.array([episode.length for episode in store.episodes])
        directory.mkdir(parents=True, exist_ok=True)
        with locked(directory / ".lock"):  # other processes wait, then use the completed cache
            _check(directory, store)
            for key in keys:
                _reserve(directory / f"{key}.npy", store, key)
            for key in keys:
                _fill(directory, store, key)
        self.arrays: dict[str, NDArray[Any]] = {
            key: np.load(directory / f"{key}.npy", mmap_mode="r") for key in keys
        }

    def batch(self, pairs: ArrayLike, keys: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
        """Return frames by (episode, frame), like `EpisodeStore.batch`.

        Raises:
            RuleSafeError: unknown key, episode or frame.
        """
        wanted = tuple(self.arrays) if keys is None else tuple(keys)
        for key in wanted:
            if key not in self.arrays:
                raise unknown_name("key", key, self.arrays)
        rows = self.rows(pairs)
        return {key: self.arrays[key][rows] for key in wanted}

    def rows(self, pairs: ArrayLike) -> NDArray[np.int64]:
        """Return the indices (B,) into `arrays` of (episode, frame) pairs (B, 2).

        Raises:
            RuleSafeError: unknown episode or frame.
        """
        requested = np.asarray(pairs, np.int64).reshape(-1, 2)
        episode, frame = requested.T
        known = (episode >= 0) & (episode < len(self.lengths))
        length = self.lengths[np.where(known, episode, 0)]
        wrong = ~known | (frame < 0) | (frame >= length)
        if wrong.any():
            raise RuleSafeError(
                f"no frame {tuple(requested[wrong][0].tolist())} (episode, frame) in the cache of "
                f"{len(self.lengths)} episodes"
            )
        return self.starts[episode] + frame


def _check(directory: Path, store: EpisodeStore) -> None:
    """Register the dataset in the directory; raise an error if it belongs to another one."""
    path = directory / ABOUT
    if not path.is_file():
        write_json(path, {"dataset": store.digest})
    elif read_json(path, "a cache's cache.json").get("dataset") != store.digest:
        raise RuleSafeError(
            f"the cache {directory} is stale: {store.root} has changed or is another dataset. "
            "Delete the cache, or use another directory"
        )


def _reserve(path: Path, store: EpisodeStore, key: str) -> None:
    """Create the array's file with its final size, so that the disk cannot be full later."""
    feature = store.features[key]
    shape = (store.frames, *feature["shape"])
    if path.is_file():
        found = np.load(path, mmap_mode="r").shape
        if found != shape:
            raise RuleSafeError(f"the cache {path} is stale: its shape is {found}, not {shape}")
        return
    with draft_file(path) as draft:
        reserved_array(draft, feature["dtype"], shape)
        path.with_suffix(".done").unlink(missing_ok=True)


def reserved_array(path: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Create a memory-mapped array, and reserve its disk space: a write to a page for which there
    is no space ends the process by a signal.

    Raises:
        OSError: the disk is full.
    """
    array: NDArray[Any] = np.lib.format.open_memmap(path, "w+", dtype, shape)
    with path.open("r+b") as file:
        os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array


def _fill(directory: Path, store: EpisodeStore, key: str) -> None:
    """Decode the episodes that are not in the array yet."""
    done = directory / f"{key}.done"
    # An incomplete last line is from a killed process: that episode is decoded again.
    lines = done.read_text().splitlines(keepends=True) if done.is_file() else []
    complete = [line for line in lines if line.endswith("\n")]
    if complete != lines:
        write_atomically(done, "".join(complete).encode())
    cached = {int(line) for line in complete}
    if len(cached) == len(store):
        return
    array = np.load(directory / f"{key}.npy", mmap_mode="r+")
    with disk_full_errors(done), done.open("a") as file:
        for episode in store.episodes:
            if episode.index not in cached:
                rows = slice(episode.start, episode.start + episode.length)
                array[rows] = store.episode(episode.index, [key])[key]
                file.write(f"{episode.index}\n")
                file.flush()
    array.flush()
