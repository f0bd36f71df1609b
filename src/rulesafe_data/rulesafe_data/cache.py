"""Frames decoded once into memory-mapped files, for training.

A directory holds, for each key, `KEY.npy` (all frames of all episodes one after another, readable
with `numpy.load`) and `KEY.done` (the episodes that are in it, a line each). Building goes on
where it stopped; another state of the dataset is noticed.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.files import drafted, locked, write_atomically
from rulesafe_data.files import read_json, write_json
from rulesafe_data.store import EpisodeStore

ABOUT = "cache.json"


class FrameCache:
    """Some keys of all frames of a dataset, memory-mapped.

    Attributes:
        arrays: key -> (F, ...) over all frames F of the dataset, read-only.
        starts: (E,) number of each episode's first frame in `arrays`.
        lengths: (E,) frames of each episode.

    Errors: RuleSafeError if the directory holds the cache of another dataset or of another state
    of this one, or if there is no room (which is asked for before anything is decoded).
    """

    def __init__(self, store: EpisodeStore, keys: Iterable[str] | None, directory: Path | str):
        self.directory = directory = Path(directory)
        keys = store.known(keys)
        self.starts = np.array([episode.start for episode in store.episodes])
        self.lengths = np.array([episode.length for episode in store.episodes])
        directory.mkdir(parents=True, exist_ok=True)
        with locked(directory / ".lock"):  # the others wait, then find it filled
            _check(directory, store)
            for key in keys:
                _reserve(directory / f"{key}.npy", store, key)
            for key in keys:
                _fill(directory, store, key)
        self.arrays: dict[str, NDArray[Any]] = {
            key: np.load(directory / f"{key}.npy", mmap_mode="r") for key in keys
        }

    def batch(self, pairs: ArrayLike, keys: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
        """Frames by (episode, frame), stacked, as `EpisodeStore.batch` gives them.

        Errors: RuleSafeError for an unknown key, episode or frame.
        """
        wanted = tuple(self.arrays) if keys is None else tuple(keys)
        for key in wanted:
            if key not in self.arrays:
                raise unknown_name("key", key, self.arrays)
        rows = self.rows(pairs)
        return {key: self.arrays[key][rows] for key in wanted}

    def rows(self, pairs: ArrayLike) -> NDArray[np.int64]:
        """The rows (B,) of `arrays` that (episode, frame) pairs (B, 2) stand for.

        Errors: RuleSafeError for an unknown episode or frame.
        """
        asked = np.asarray(pairs, np.int64).reshape(-1, 2)
        episode, frame = asked.T
        known = (episode >= 0) & (episode < len(self.lengths))
        length = self.lengths[np.where(known, episode, 0)]
        wrong = ~known | (frame < 0) | (frame >= length)
        if wrong.any():
            raise RuleSafeError(
                f"no frame {tuple(asked[wrong][0].tolist())} (episode, frame) in the cache of "
                f"{len(self.lengths)} episodes"
            )
        return self.starts[episode] + frame


def _check(directory: Path, store: EpisodeStore) -> None:
    """Make the directory this dataset's, unless it is or belongs to another."""
    path = directory / ABOUT
    if not path.is_file():
        write_json(path, {"dataset": store.digest})
    elif read_json(path, "a cache's cache.json").get("dataset") != store.digest:
        raise RuleSafeError(
            f"the cache {directory} is stale: it was made of another dataset than {store.root} is "
            "now. Delete it, or name another directory"
        )


def _reserve(path: Path, store: EpisodeStore, key: str) -> None:
    """Make the array's file with all its room, so that filling it cannot run out of disk."""
    if path.is_file():
        return
    feature = store.features[key]
    with drafted(path) as draft:
        shape = (store.frames, *feature["shape"])
        np.lib.format.open_memmap(draft, "w+", feature["dtype"], shape)
        with draft.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, draft.stat().st_size)
        path.with_suffix(".done").unlink(missing_ok=True)


def _fill(directory: Path, store: EpisodeStore, key: str) -> None:
    """Decode the episodes that are not in the array yet."""
    done = directory / f"{key}.done"
    # A line without its end was cut off by a kill: that episode is decoded again.
    lines = done.read_text().splitlines(keepends=True) if done.is_file() else []
    complete = [line for line in lines if line.endswith("\n")]
    if complete != lines:
        write_atomically(done, "".join(complete).encode())
    there = {int(line) for line in complete}
    if len(there) == len(store):
        return
    array = np.load(directory / f"{key}.npy", mmap_mode="r+")
    with done.open("a") as file:
        for episode in store.episodes:
            if episode.index not in there:
                rows = slice(episode.start, episode.start + episode.length)
                array[rows] = store.episode(episode.index, [key])[key]
                file.write(f"{episode.index}\n")
                file.flush()
    array.flush()
