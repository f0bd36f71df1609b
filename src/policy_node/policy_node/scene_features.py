"""A cache of the scene features of the demonstrations' point clouds or images.

The frozen scene encoder would take a quarter of a training step of DP3 tiny. Instead, it processes
each point cloud VIEWS times before training, each time with another subset of the points, and each
pair of images once.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from policy_node.image_arrays import check_images, shrink
from policy_node.scene_encoder import SceneEncoder
from rulesafe_core.files import draft_file, locked
from rulesafe_data.cache import reserved_array
from rulesafe_data.layout import CAMERAS
from rulesafe_data.store import EpisodeStore

VIEWS = 4
"""Number of subsets of a cloud's points. The first one has the first points, as at inference."""

BATCH = 256


def load_scene_features(
    encoder: nn.Module,
    clouds: NDArray[np.floating],
    rows: NDArray[np.int64],
    count: int,
    directory: Path,
    name: str,
) -> NDArray[np.float32]:
    """Return (VIEWS, F, features), memory-mapped: the output of `encoder` for `count` points.

    Args:
        encoder: (..., count, 6) -> (..., features).
        clouds: (C, P, 6) with P >= count.
        rows: (F,) indices of clouds.
        directory: cache of the features.
        name: identifies rows and clouds in the cache.
    """
    chosen = list(_views(clouds.shape[1], count))
    inputs = (
        (view, first, clouds[rows[first : first + BATCH]][:, points].astype(np.float32))
        for view, points in enumerate(chosen)
        for first in range(0, len(rows), BATCH)
    )
    shape = (len(chosen), len(rows))
    return _cached(encoder, inputs, shape, directory, f"{name}_{count}_{VIEWS}")


def load_image_features(
    encoder: SceneEncoder, store: EpisodeStore, episodes: Sequence[int], directory: Path, name: str
) -> NDArray[np.float32]:
    """Return (1, F, features), memory-mapped: the output of `encoder` for the images of all frames
    of some episodes.

    Raises:
        RuleSafeError: the dataset has no images.
    """
    check_images(store)
    side = encoder.config.image_size

    def inputs() -> Iterator[tuple[int, int, NDArray[np.uint8]]]:
        start = 0
        for index in episodes:
            decoded = store.episode(index, CAMERAS)
            images = np.stack([shrink(decoded[key], side) for key in CAMERAS], axis=1)
            yield 0, start, images
            start += len(images)

    shape = (1, sum(store.episodes[index].length for index in episodes))
    return _cached(encoder, inputs(), shape, directory, f"{name}_images")


def _cached(
    encoder: nn.Module,
    inputs: Iterable[tuple[int, int, NDArray[Any]]],
    shape: tuple[int, int],
    directory: Path,
    name: str,
) -> NDArray[np.float32]:
    """Return (views, F, features) of inputs (view, first frame, inputs of successive frames)."""
    kind = f"{name}_{_digest(encoder)}"
    path = directory / f"scene_features_{hashlib.sha256(kind.encode()).hexdigest()[:12]}.npy"
    directory.mkdir(parents=True, exist_ok=True)
    with locked(directory / ".lock"):
        if not path.is_file():
            _encode(encoder, inputs, shape, path)
    found: NDArray[np.float32] = np.load(path, mmap_mode="r")
    return found


def _digest(encoder: nn.Module) -> str:
    hashed = hashlib.sha256()
    for name, value in encoder.state_dict().items():
        hashed.update(name.encode() + value.cpu().numpy().tobytes())
    return hashed.hexdigest()


def _encode(
    encoder: nn.Module,
    inputs: Iterable[tuple[int, int, NDArray[Any]]],
    shape: tuple[int, int],
    path: Path,
) -> None:
    with draft_file(path) as draft, torch.inference_mode():
        array: Any = None
        for view, first, frames in inputs:
            new = np.ones(len(frames), np.bool_)  # rendered at less than 10 Hz, inputs repeat
            new[1:] = (frames[1:] != frames[:-1]).any(tuple(range(1, frames.ndim)))
            distinct = encoder(torch.from_numpy(frames[new])).numpy()
            if array is None:
                array = reserved_array(draft, np.float32, (*shape, distinct.shape[-1]))
            array[view, first : first + len(frames)] = distinct[new.cumsum() - 1]
        array.flush()


def _views(points: int, count: int) -> Iterator[NDArray[np.int64]]:
    yield np.arange(count)
    rng = np.random.default_rng(0)
    for _ in range(VIEWS - 1):
        yield rng.permutation(points)[:count]
