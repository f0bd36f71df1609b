"""A cache of the scene features of the demonstrations' point clouds.

The frozen scene encoder would take a quarter of a training step of DP3 tiny. Instead, it processes
each point cloud VIEWS times before training, each time with another subset of the points.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rulesafe_core.files import draft_file, locked
from rulesafe_data.cache import reserved_array

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
    kind = f"{name}_{count}_{VIEWS}_{_digest(encoder)}"
    path = directory / f"scene_features_{hashlib.sha256(kind.encode()).hexdigest()[:12]}.npy"
    directory.mkdir(parents=True, exist_ok=True)
    with locked(directory / ".lock"):
        if not path.is_file():
            _encode(encoder, clouds, rows, count, path)
    found: NDArray[np.float32] = np.load(path, mmap_mode="r")
    return found


def _digest(encoder: nn.Module) -> str:
    hashed = hashlib.sha256()
    for name, value in encoder.state_dict().items():
        hashed.update(name.encode() + value.cpu().numpy().tobytes())
    return hashed.hexdigest()


def _encode(
    encoder: nn.Module,
    clouds: NDArray[np.floating],
    rows: NDArray[np.int64],
    count: int,
    path: Path,
) -> None:
    with draft_file(path) as draft, torch.inference_mode():
        array: Any = None
        for view, points in enumerate(_views(clouds.shape[1], count)):
            for first in range(0, len(rows), BATCH):
                chosen = rows[first : first + BATCH]
                inputs = clouds[chosen]
                new = np.ones(len(inputs), np.bool_)  # rendered at less than 10 Hz, clouds repeat
                new[1:] = (inputs[1:] != inputs[:-1]).any((1, 2))
                distinct = inputs[new][:, points].astype(np.float32)
                features = encoder(torch.from_numpy(distinct)).numpy()[new.cumsum() - 1]
                if array is None:
                    shape = (VIEWS, len(rows), features.shape[-1])
                    array = reserved_array(draft, np.float32, shape)
                array[view, first : first + BATCH] = features
        array.flush()


def _views(points: int, count: int) -> Iterator[NDArray[np.int64]]:
    yield np.arange(count)
    rng = np.random.default_rng(0)
    for _ in range(VIEWS - 1):
        yield rng.permutation(points)[:count]
