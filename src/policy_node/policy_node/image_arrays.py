"""A cache of training images: decoded once, resized, in a memory-mapped file.

At full size, the images of 100 demonstrations take about 15 GB; small networks use smaller images.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import draft_file, locked
from rulesafe_core.text_files import read_json
from rulesafe_data.cache import reserved_array
from rulesafe_data.files import write_json
from rulesafe_data.layout import CAMERAS
from rulesafe_data.store import EpisodeStore

Images = NDArray[np.uint8]


def shrink(images: Images, side: int) -> Images:
    """Resize images (N, H, W, 3) to (N, side, side, 3); smaller images are returned unchanged.

    Pixels are averages of areas if height and width are multiples of `side`, otherwise nearest
    neighbours.
    """
    _, height, width, _ = images.shape
    if height <= side and width <= side:
        return images
    if height % side or width % side:
        rows = (np.arange(side) * height + height // 2) // side
        columns = (np.arange(side) * width + width // 2) // side
        return images[:, rows][:, :, columns]
    split = images.reshape(len(images), side, height // side, side, width // side, 3)
    sums = split.sum(axis=(2, 4), dtype=np.uint32)
    area = (height // side) * (width // side)
    return ((sums + area // 2) // area).astype(np.uint8)


def load_images(store: EpisodeStore, episodes: Sequence[int], side: int, directory: Path) -> Images:
    """Return the images (F, 2, side, side, 3) of all frames of these episodes, memory-mapped.

    Raises:
        RuleSafeError: the directory contains the images of other episodes, or the disk is full.
    """
    request = {"dataset": store.digest, "episodes": list(episodes), "side": side}
    directory.mkdir(parents=True, exist_ok=True)
    path, about = directory / f"pictures_{side}.npy", directory / f"pictures_{side}.json"
    with locked(directory / ".lock"):
        if not about.is_file():
            _decode(store, episodes, side, path)
            write_json(about, request)  # last, so that the images are complete if it exists
        elif read_json(about, "the description of cached images") != request:
            raise RuleSafeError(
                f"{directory} contains the images of other episodes; use another cache folder"
            )
    found: Images = np.load(path, mmap_mode="r")
    return found


def check_images(store: EpisodeStore) -> None:
    """Raise RuleSafeError if the dataset lacks the images of a camera."""
    for key in CAMERAS:
        if key not in store.features:
            raise RuleSafeError(
                f"{store.root} has no images; add them with `rulesafe demos render`"
            )


def _decode(store: EpisodeStore, episodes: Sequence[int], side: int, path: Path) -> None:
    check_images(store)
    height, width, _ = store.features[CAMERAS[0]]["shape"]
    frames = sum(store.episodes[index].length for index in episodes)
    small_height, small_width = shrink(np.zeros((1, height, width, 3), np.uint8), side).shape[1:3]
    shape = (frames, len(CAMERAS), small_height, small_width, 3)
    with draft_file(path) as draft:
        array: Any = reserved_array(draft, np.uint8, shape)
        start = 0
        for index in episodes:
            decoded = store.episode(index, CAMERAS)
            for camera, key in enumerate(CAMERAS):
                small = shrink(decoded[key], side)
                array[start : start + len(small), camera] = small
            start += store.episodes[index].length
        array.flush()
