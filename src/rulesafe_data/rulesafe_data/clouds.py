"""Point clouds in Zarr format v2, with a checksum of each file.

The group of an episode contains `xyz` (N, P, 3) float32, m, pelvis frame, and `rgb` (N, P, 3)
uint8. Its attribute `crc32` has the CRC-32 of each chunk. A group is written to a temporary folder
and moved when it is complete, so that several processes can write different episodes concurrently.
"""

import hashlib
import json
import os
import shutil
import struct
import uuid
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numcodecs import Blosc
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import disk_full_errors, write_atomically
from rulesafe_core.text_files import read_bytes, read_json
from rulesafe_data.layout import CLOUDS, WRITING, cloud_name

FRAMES_PER_CHUNK = 16
"""Frames per Zarr chunk, all decompressed to read one frame; 600 frames give 76 files."""

MAX_VALUES = 10**9
"""Maximum number of values of the point clouds of an episode, which limits the memory that a file
can claim."""

GROUP = json.dumps({"zarr_format": 2}).encode()
ARRAYS = {"xyz": ("<f4", Blosc.SHUFFLE), "rgb": ("|u1", Blosc.NOSHUFFLE)}
"""Arrays of a group: dtype, and filter of the compression."""


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
        self._codecs = {
            name: Blosc("zstd", clevel=5, shuffle=shuffle) for name, (_, shuffle) in ARRAYS.items()
        }
        with disk_full_errors(self._path):
            for name, (dtype, _) in ARRAYS.items():
                about = {
                    "zarr_format": 2,
                    "shape": (frames, points, 3),
                    "chunks": (FRAMES_PER_CHUNK, points, 3),
                    "dtype": dtype,
                    "compressor": self._codecs[name].get_config(),
                    "fill_value": 0,
                    "order": "C",
                    "filters": None,
                }
                (self._path / name).mkdir(parents=True)
                (self._path / name / ".zarray").write_text(json.dumps(about))
            (self._path / ".zgroup").write_bytes(GROUP)
        self._blocks = {
            name: np.zeros((FRAMES_PER_CHUNK, points, 3), dtype)
            for name, (dtype, _) in ARRAYS.items()
        }
        self._added, self._checksums = 0, dict[str, int]()
        self._digest = hashlib.sha256()

    def add(self, points: NDArray[np.float32]) -> None:
        """Append a point cloud (P, 6): xyz in m, rgb in 0..1; raise RuleSafeError if the disk is
        full."""
        self._digest.update(np.asarray(points, np.float32).tobytes())
        row = self._added % FRAMES_PER_CHUNK
        self._blocks["xyz"][row] = points[:, :3]
        self._blocks["rgb"][row] = np.rint(points[:, 3:] * 255)
        self._added += 1
        if row == FRAMES_PER_CHUNK - 1:
            self._write_chunk()

    def _write_chunk(self) -> None:
        for name, block in self._blocks.items():
            file = _chunk_file(name, (self._added - 1) // FRAMES_PER_CHUNK)
            content = self._codecs[name].encode(block)
            with disk_full_errors(self._path):
                (self._path / file).write_bytes(content)
            self._checksums[file] = zlib.crc32(content)
            block[:] = 0

    def finish(self) -> bytes:
        """Write the remaining frames, move the group into the dataset, return a hash of the point
        clouds."""
        if self._added % FRAMES_PER_CHUNK:
            self._write_chunk()
        with disk_full_errors(self._path):
            (self._path / ".zattrs").write_text(json.dumps({"crc32": self._checksums}))
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


def _chunk_file(name: str, number: int) -> str:
    return f"{name}/{number}.0.0"


class Clouds:
    """Reads the point clouds of an episode chunk by chunk.

    Raises:
        RuleSafeError: the episode has no point clouds, or, here or in a method, a file is damaged.
    """

    def __init__(self, root: Path, index: int):
        self._path = root / CLOUDS / cloud_name(index)
        if not (self._path / "xyz" / ".zarray").is_file():
            raise RuleSafeError(f"episode {index} has no point clouds: {self._path} is missing")
        (self._shape, self._chunk), other = (
            _read_array(self._path / name / ".zarray", dtype) for name, (dtype, _) in ARRAYS.items()
        )
        if other != (self._shape, self._chunk):
            raise RuleSafeError(f"{self._path} is damaged: xyz and rgb have different shapes")
        attributes = self._path / ".zattrs"
        about = read_json(attributes, "attributes of a group") if attributes.exists() else {}
        checksums = about.get("crc32")
        if not isinstance(checksums, dict):
            raise RuleSafeError(f"{attributes} is damaged: crc32 is no list of files")
        self._checksums = checksums

    def frame(self, index: int) -> NDArray[np.float32]:
        """Return the point cloud (P, 6) of a frame: xyz in m, rgb in 0..1; raise IndexError for a
        frame that the episode does not have."""
        if not 0 <= index < self._shape[0]:
            raise IndexError(f"the episode has {self._shape[0]} point clouds, got index {index}")
        number, row = divmod(index, self._chunk)
        return _joined(*(self._read_chunk(name, number)[row] for name in ARRAYS))

    def frames(self) -> NDArray[np.float32]:
        """Return all point clouds of the episode, (N, P, 6)."""
        found = np.empty((*self._shape[:2], 6), np.float32)
        for first in range(0, len(found), self._chunk):
            rows = found[first : first + self._chunk]
            number = first // self._chunk
            rows[:] = _joined(*(self._read_chunk(name, number)[: len(rows)] for name in ARRAYS))
        return found

    def _read_chunk(self, name: str, number: int) -> NDArray[Any]:
        file = _chunk_file(name, number)
        path, shape = self._path / file, (self._chunk, *self._shape[1:])
        result = np.empty(shape, ARRAYS[name][0])
        try:
            content = read_bytes(path, 2 * result.nbytes + 1024)
            if self._checksums[file] != zlib.crc32(content):
                raise ValueError("its checksum is wrong")
            # Blosc's decoder reads and writes beyond its buffers if these sizes are wrong.
            sizes = struct.unpack_from("<4xI4xI", content)
            if sizes != (result.nbytes, len(content)):
                raise ValueError(f"{len(content)} bytes, but its header states {sizes[1]}")
            Blosc().decode(content, out=result)
        except FileNotFoundError:
            raise RuleSafeError(f"{path} is missing") from None
        except (KeyError, OSError, RuntimeError, ValueError, struct.error) as error:
            raise RuleSafeError(f"{path} is damaged: {error}") from error
        return result


def _read_array(path: Path, dtype: str) -> tuple[tuple[int, int, int], int]:
    """Return the shape of an array and its frames per chunk, of a description as it is written
    here: others can name codecs that execute code, or claim any amount of memory. Raises
    RuleSafeError."""
    about = read_json(path, "the description of point clouds")
    try:
        (frames, points, _), (rows, *_) = shape, chunks = about["shape"], about["chunks"]
        valid = (
            about["compressor"]["id"] == "blosc"
            and not about["filters"]
            and (about["dtype"], about["order"]) == (dtype, "C")
            and all(type(size) is int and size > 0 for size in (frames, points, rows))
            and (shape[2:], chunks[1:]) == ([3], shape[1:])
            and 3 * points * (frames + rows) <= MAX_VALUES
        )
    except (KeyError, TypeError, ValueError):
        valid = False
    if not valid:
        raise RuleSafeError(
            f"{path} does not describe point clouds of a dataset: {dtype}, blosc, no filters, at "
            f"most {MAX_VALUES} values"
        )
    return (frames, points, 3), rows


def _joined(xyz: NDArray[np.float32], rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    return np.concatenate([xyz, rgb.astype(np.float32) / np.float32(255)], axis=-1)
