"""A cache of the scene features of the demonstrations' point clouds or images.

The frozen scene encoder would take a quarter of a training step of DP3 tiny. Instead, it processes
each point cloud VIEWS times before training, each time with another subset of the points, and each
set of images once.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from policy_node.image_arrays import check_images, small_images
from policy_node.scene_encoder import SceneEncoder
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.cache import cached
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
        clouds[rows[first : first + BATCH]][:, points].astype(np.float32)
        for points in chosen
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
        RuleSafeError: the dataset has no images, or those of other cameras.
    """
    check_images(store)
    if encoder.config.cameras != store.cameras.names:
        raise RuleSafeError(
            f"the scene encoder receives images of {', '.join(encoder.config.cameras)}; "
            f"{store.root} has those of {', '.join(store.cameras.names)}: train a scene encoder "
            "with these cameras (rulesafe policy scenes --images --cameras FILE)"
        )
    inputs = small_images(store, episodes, encoder.config.image_size)
    shape = (1, sum(store.episodes[index].length for index in episodes))
    return _cached(encoder, inputs, shape, directory, f"{name}_images")


def _cached(
    encoder: nn.Module,
    inputs: Iterable[NDArray[Any]],
    shape: tuple[int, int],
    directory: Path,
    name: str,
) -> NDArray[np.float32]:
    """Return (views, F, features) of inputs, batches of the successive frames of each view."""
    kind = f"{name}_{_digest(encoder)}"
    path = directory / f"scene_features_{hashlib.sha256(kind.encode()).hexdigest()[:12]}.npy"
    views, frames = shape
    blocks = (_encode(encoder, each) for each in inputs)
    return cached(path, {"kind": kind}, views * frames, lambda: blocks).reshape(views, frames, -1)


def _digest(encoder: nn.Module) -> str:
    hashed = hashlib.sha256()
    for name, value in encoder.state_dict().items():
        hashed.update(name.encode() + value.cpu().numpy().tobytes())
    return hashed.hexdigest()


@torch.inference_mode()
def _encode(encoder: nn.Module, frames: NDArray[Any]) -> NDArray[np.float32]:
    """Return the features of successive frames."""
    new = np.ones(len(frames), np.bool_)  # rendered at less than 10 Hz, inputs repeat
    new[1:] = (frames[1:] != frames[:-1]).any(tuple(range(1, frames.ndim)))
    distinct: NDArray[np.float32] = encoder(torch.from_numpy(frames[new])).numpy()
    return distinct[new.cumsum() - 1]


def _views(points: int, count: int) -> Iterator[NDArray[np.int64]]:
    yield np.arange(count)
    rng = np.random.default_rng(0)
    for _ in range(VIEWS - 1):
        yield rng.permutation(points)[:count]
