"""A cache of training images: decoded once, resized, in a memory-mapped file.

At full size, the images of 100 demonstrations take about 15 GB; small networks use smaller images.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.cache import cached
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
    """Return the images (F, K, side, side, 3) of all frames of these episodes, memory-mapped.

    Raises:
        RuleSafeError: the dataset has no images, the directory contains the images of other
            episodes, or the disk is full.
    """
    source = {"dataset": store.digest, "episodes": list(episodes), "side": side}
    rows = sum(store.episodes[index].length for index in episodes)
    path = directory / f"pictures_{side}.npy"
    return cached(path, source, rows, lambda: small_images(store, episodes, side))


def small_images(store: EpisodeStore, episodes: Sequence[int], side: int) -> Iterator[Images]:
    """Yield the images (N, K, side, side, 3) of each of these episodes; raise RuleSafeError if the
    dataset has none."""
    check_images(store)
    for index in episodes:
        decoded = store.episode(index, store.images)
        # Datasets of other sources may have images of another aspect ratio than their cameras.
        parts = [c.crop(decoded[k]) for c, k in zip(store.cameras, store.images, strict=True)]
        yield np.stack([shrink(part, side) for part in parts], axis=1)


def check_images(store: EpisodeStore) -> None:
    """Raise RuleSafeError if the dataset has no images."""
    if not store.images:
        raise RuleSafeError(f"{store.root} has no images; add them with `rulesafe demos render`")
