"""Point clouds in Zarr format v2, which both zarr 2 (Python 3.10) and zarr 3 support.

The group of an episode contains `xyz` (N, P, 3) float32, m, pelvis frame, and `rgb` (N, P, 3)
uint8. A group is written to a temporary folder and moved when it is complete, so that several
processes can write different episodes concurrently.
"""

import hashlib
import json
import math
import os
import shutil
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numcodecs import Blosc
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import disk_full_errors, write_atomically
from rulesafe_core.text_files import read_json
from rulesafe_data.layout import CLOUDS, WRITING, cloud_name

FRAMES_PER_CHUNK = 16
"""Frames per Zarr chunk, all decompressed to read one frame; 600 frames give 76 files."""

MAX_VALUES = 10**9
"""Maximum number of values of the point clouds of an episode, which limits the memory that a file
can claim."""

_FORMAT: dict[str, Any] = {"zarr_format": 2} if int(zarr.__version__.split(".")[0]) >= 3 else {}
GROUP = json.dumps({"zarr_format": 2}).encode()


class CloudWriter:
    """Writes the point clouds of one episode; `finish` adds them to the dataset.

    Args:
        root: the dataset's directory.
        index: number of the episode.
        frames: number of point clouds.
        points: number of points of each.
    """

    def __init__(self, root: Path, index: int, frames: int, points: int):
        self._target = root / CLOUDS / cloud_name(index)
        self._path = root / WRITING / f"{cloud_name(index)}-{uuid.uuid4().hex[:12]}"
        with disk_full_errors(self._path):
            self._path.mkdir(parents=True)
            (self._path / ".zgroup").write_bytes(GROUP)
            self._xyz = self._array("xyz", frames, points, "<f4", Blosc.SHUFFLE)
            self._rgb = self._array("rgb", frames, points, "|u1", Blosc.NOSHUFFLE)
        self._xyz_block: list[NDArray[np.float32]] = []
        self._rgb_block: list[NDArray[np.uint8]] = []
        self._written = 0
        self._digest = hashlib.sha256()

    def _array(self, name: str, frames: int, points: int, dtype: str, shuffle: int) -> Any:
        return zarr.open_array(
            str(self._path / name),
            mode="w",
            shape=(frames, points, 3),
            chunks=(FRAMES_PER_CHUNK, points, 3),
            dtype=dtype,
            compressor=Blosc("zstd", clevel=5, shuffle=shuffle),
            fill_value=0,
            **_FORMAT,
        )

    def add(self, points: NDArray[np.float32]) -> None:
        """Append a point cloud (P, 6): xyz in m, rgb in 0..1; raise RuleSafeError if the disk is
        full."""
        self._digest.update(np.asarray(points, np.float32).tobytes())
        self._xyz_block.append(points[:, :3])
        self._rgb_block.append(np.rint(points[:, 3:] * 255).astype(np.uint8))
        if len(self._xyz_block) == FRAMES_PER_CHUNK:
            self._flush()

    def _flush(self) -> None:
        if self._xyz_block:
            rows = slice(self._written, self._written + len(self._xyz_block))
            with disk_full_errors(self._path):
                self._xyz[rows] = np.stack(self._xyz_block)
                self._rgb[rows] = np.stack(self._rgb_block)
            self._written = rows.stop
            self._xyz_block, self._rgb_block = [], []

    def finish(self) -> bytes:
        """Write the remaining frames, move the group into the dataset, return a hash of the point
        clouds."""
        self._flush()
        with disk_full_errors(self._path):
            for path in self._path.rglob("*"):
                if path.is_file():
                    _sync(path)
            group = self._target.parent / ".zgroup"
            if not group.exists():
                write_atomically(group, GROUP)
            if self._target.exists():  # left by an earlier write that did not complete the episode
                self._target.rename(self._path.with_name(self._path.name + "-old"))
            self._path.rename(self._target)
        self.discard()
        return self._digest.digest()

    def discard(self) -> None:
        """Remove temporary files that were not added to the dataset."""
        for path in (self._path, self._path.with_name(self._path.name + "-old")):
            shutil.rmtree(path, ignore_errors=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Clouds:
    """Reads the point clouds of an episode chunk by chunk.

    Raises:
        RuleSafeError: the episode has no point clouds.
    """

    def __init__(self, root: Path, index: int):
        path = root / CLOUDS / cloud_name(index)
        if not (path / "xyz" / ".zarray").is_file():
            raise RuleSafeError(f"episode {index} has no point clouds: {path} is missing")
        for name in ("xyz", "rgb"):
            _check_array(path / name / ".zarray")
        self._xyz: Any = zarr.open_array(str(path / "xyz"), mode="r", **_FORMAT)
        self._rgb: Any = zarr.open_array(str(path / "rgb"), mode="r", **_FORMAT)

    def frame(self, index: int) -> NDArray[np.float32]:
        """Return the point cloud (P, 6) of a frame: xyz in m, rgb in 0..1."""
        return _joined(self._xyz[index], self._rgb[index])

    def frames(self) -> NDArray[np.float32]:
        """Return all point clouds of the episode, (N, P, 6)."""
        return _joined(self._xyz[:], self._rgb[:])


def _check_array(path: Path) -> None:
    """Raise RuleSafeError unless the description of an array is of the kind that is written here:
    others can name codecs that execute code, or claim any amount of memory."""
    about = read_json(path, "the description of point clouds")
    try:
        codec = (about["compressor"] or {}).get("id", "blosc")
        sizes = [math.prod(map(int, about[name])) for name in ("shape", "chunks")]
        valid = codec == "blosc" and not about["filters"] and max(sizes) <= MAX_VALUES
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        valid = False
    if not valid:
        raise RuleSafeError(
            f"{path} does not describe point clouds of a dataset: blosc, no filters, at most "
            f"{MAX_VALUES} values"
        )


def _joined(xyz: NDArray[np.float32], rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    return np.concatenate([xyz, rgb.astype(np.float32) / np.float32(255)], axis=-1)
