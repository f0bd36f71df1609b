"""Pictures for training: decoded once, made small, in one memory-mapped file.

At full size the pictures of 100 demonstrations take some 15 GB; a small network looks at less.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import drafted, locked
from rulesafe_data.files import read_json, write_json
from rulesafe_data.layout import CAMERAS
from rulesafe_data.store import EpisodeStore

Pictures = NDArray[np.uint8]


def shrink(pictures: Pictures, side: int) -> Pictures:
    """Pictures (N, H, W, 3) as (N, side, side, 3), each pixel the mean of its area where the side
    divides height and width, else the nearest pixel; unchanged where they are no larger."""
    _, height, width, _ = pictures.shape
    if height <= side and width <= side:
        return pictures
    if height % side or width % side:
        rows = (np.arange(side) * height + height // 2) // side
        columns = (np.arange(side) * width + width // 2) // side
        return pictures[:, rows][:, :, columns]
    split = pictures.reshape(len(pictures), side, height // side, side, width // side, 3)
    sums = split.sum(axis=(2, 4), dtype=np.uint32)
    area = (height // side) * (width // side)
    return ((sums + area // 2) // area).astype(np.uint8)


def load_pictures(
    store: EpisodeStore, episodes: Sequence[int], side: int, directory: Path
) -> Pictures:
    """The pictures (F, 2, side, side, 3) of all frames of these episodes, memory-mapped.

    Errors: RuleSafeError if the directory holds those of other episodes, or there is no room.
    """
    asked = {"dataset": store.digest, "episodes": list(episodes), "side": side}
    directory.mkdir(parents=True, exist_ok=True)
    path, about = directory / f"pictures_{side}.npy", directory / f"pictures_{side}.json"
    with locked(directory / ".lock"):
        if not about.is_file():
            _decode(store, episodes, side, path)
            write_json(about, asked)  # last: with it the file is complete
        elif read_json(about, "the description of pictures") != asked:
            raise RuleSafeError(f"{directory} holds the pictures of other episodes; name another")
    found: Pictures = np.load(path, mmap_mode="r")
    return found


def _decode(store: EpisodeStore, episodes: Sequence[int], side: int, path: Path) -> None:
    for key in CAMERAS:
        if key not in store.features:
            raise RuleSafeError(f"{store.root} has no pictures: render it with its cameras")
    height, width, _ = store.features[CAMERAS[0]]["shape"]
    frames = sum(store.episodes[index].length for index in episodes)
    shape = (frames, len(CAMERAS), min(side, height), min(side, width), 3)
    with drafted(path) as draft:
        array: Any = np.lib.format.open_memmap(draft, "w+", np.uint8, shape)
        start = 0
        for index in episodes:
            decoded = store.episode(index, CAMERAS)
            for place, key in enumerate(CAMERAS):
                small = shrink(decoded[key], side)
                array[start : start + len(small), place] = small
            start += store.episodes[index].length
        array.flush()
