"""Paths, keys and metadata of a dataset: LeRobot's dataset format v3.0.

Reference: `lerobot/datasets` of lerobot 0.4.4 (`utils.py`, `lerobot_dataset.py`), whose format
version is "v3.0". Here each file contains one episode, which the format allows: episode i is file
i % 1000 of chunk i // 1000, for the tables and for the videos of each camera.
"""

import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_core.text_files import read_json

VERSION = "v3.0"
"""LeRobot's format version, `codebase_version` of meta/info.json."""

EXTENSION_VERSION = 2
"""Version of the extensions of LeRobot's format: point clouds, privileged files and
meta/rulesafe.json. In version 1, which can only be read, the column `observation.state` has the
positions of all joints."""

FPS = SECOND // PERIOD
CHUNK_SIZE = 1000
ROBOT = "unitree_h1_2"

STATE, ACTION = "observation.state", "action"
"""The state consists of the positions of the action's joints in their order, as policies expect
that predict actions relative to the state."""
ALL_POSITIONS, VELOCITY = "observation.all_joint_positions", "observation.velocity"
POINTS = "observation.points"
MEMORY, MEMORY_MASK = "observation.memory_tokens", "observation.memory_mask"
"""Keys of memory tokens, which only exported datasets can have."""

RECORDED_KEYS = (ALL_POSITIONS, VELOCITY, ACTION)
"""Keys of what is recorded, each with one float32 vector per frame."""

INDEX_KEYS = ("timestamp", "frame_index", "episode_index", "index", "task_index")
"""Keys required by LeRobot's format: timestamp in s (float32), and four int64."""

SUBTASK = "subtask_index"
"""Index into SUBTASKS of the demonstrator's subtask at each frame; only datasets whose demonstrator
reports subtasks have it."""

SUBTASKS = {
    "knob+": "turn the knob open",
    "knob-": "turn the knob closed",
    "handle+": "turn the handle open",
    "handle-": "turn the handle closed",
    "door+": "pull the door open",
    "door-": "push the door closed",
}
"""Subtasks by the event that they cause. The texts are in meta/subtasks.parquet, as in LeRobot."""

MISS = len(SUBTASKS)
"""Index of the subtask "miss the part": a grasp that deliberately misses, which training does not
imitate."""

SUBTASK_TEXTS = (*SUBTASKS.values(), "miss the part")

JOINT_NAMES = {STATE: ACTION_JOINTS, ALL_POSITIONS: ALL_JOINTS, VELOCITY: ALL_JOINTS}
JOINT_NAMES |= {ACTION: ACTION_JOINTS}

FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}"
DATA_PATH = f"data/{FILE}.parquet"
VIDEO_PATH = f"videos/{{video_key}}/{FILE}.mp4"
EPISODES_PATH = f"meta/episodes/{FILE}.parquet"
INFO, STATS, TASKS = "meta/info.json", "meta/stats.json", "meta/tasks.parquet"
SUBTASK_TABLE = "meta/subtasks.parquet"
EXTENSION = "meta/rulesafe.json"
CLOUDS = "clouds.zarr"
PRIVILEGED_PATH = f"privileged/{FILE}.parquet"
PRIVILEGED_EPISODES = "privileged/episodes.parquet"
DTYPES = ("float32", "float64", "int64", "bool", "uint8", "video")
"""Valid dtypes of features."""

MAX_COUNT = 2**31
"""Largest number of episodes, and largest side of a shape, in meta/info.json."""

WRITING = ".writing"
"""Folder of incomplete point clouds; those of killed writers can be deleted."""


def image_key(camera: str) -> str:
    """Return the key of the images of a camera."""
    return f"observation.images.{camera}"


def place(index: int) -> dict[str, int]:
    """Return the `chunk_index` and `file_index` of an episode's files."""
    return {"chunk_index": index // CHUNK_SIZE, "file_index": index % CHUNK_SIZE}


def data_file(root: Path, index: int) -> Path:
    """Return the path of an episode's table. It is written last: if it exists, the episode is
    complete."""
    return root / DATA_PATH.format(**place(index))


def video_file(root: Path, key: str, index: int) -> Path:
    """Return the path of an episode's video of one camera."""
    return root / VIDEO_PATH.format(video_key=key, **place(index))


def privileged_file(root: Path, index: int) -> Path:
    """Return the path of an episode's table of privileged columns, which no policy may read."""
    return root / PRIVILEGED_PATH.format(**place(index))


def cloud_name(index: int) -> str:
    """Return the name of an episode's group in clouds.zarr."""
    return f"episode_{index:06d}"


def features(images: Mapping[str, Sequence[int]], subtasks: bool) -> dict[str, dict[str, Any]]:
    """Return `features` of meta/info.json: dtype, shape and names of every key except the point
    clouds.

    Args:
        images: key -> (H, W, 3) of the images of each camera.
        subtasks: whether the episodes have subtasks.
    """
    found: dict[str, dict[str, Any]] = {
        key: {"dtype": "float32", "shape": [len(names)], "names": list(names)}
        for key, names in JOINT_NAMES.items()
    }
    for key, (height, width, channels) in images.items():
        info = {
            "video.height": height,
            "video.width": width,
            "video.codec": "h264",
            "video.pix_fmt": "yuv420p",
            "video.is_depth_map": False,
            "video.fps": FPS,
            "video.channels": channels,
            "has_audio": False,
        }
        found[key] = {
            "dtype": "video",
            "shape": [height, width, channels],
            "names": ["height", "width", "channels"],
            "info": info,
        }
    for key in (*INDEX_KEYS, *([SUBTASK] if subtasks else [])):
        dtype = "float32" if key == "timestamp" else "int64"
        found[key] = {"dtype": dtype, "shape": [1], "names": None}
    return found


def info(
    episodes: int, frames: int, tasks: int, images: Mapping[str, Sequence[int]], subtasks: bool
) -> dict[str, Any]:
    """Return the content of meta/info.json."""
    return {
        "codebase_version": VERSION,
        "robot_type": ROBOT,
        "total_episodes": episodes,
        "total_frames": frames,
        "total_tasks": tasks,
        "chunks_size": CHUNK_SIZE,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": FPS,
        "splits": {"train": f"0:{episodes}"},
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH if images else None,
        "features": features(images, subtasks),
    }


def read_info(root: Path) -> dict[str, Any]:
    """Read meta/info.json; raise RuleSafeError if it is missing or of another version."""
    path = root / INFO
    if not path.is_file():
        unfinished = " (it has episodes, but DatasetWriter.finish() was not called)"
        raise RuleSafeError(
            f"{root} is not a dataset: {INFO} is missing"
            + (unfinished if (root / "data").is_dir() else "")
            + "; create one with `rulesafe demos render` or `rulesafe bag to-dataset`"
        )
    info = read_json(path, "a dataset's meta/info.json")
    if info.get("codebase_version") != VERSION:
        raise RuleSafeError(
            f"{root} is a dataset of version {info.get('codebase_version')!r}; "
            f"supported: {VERSION!r}"
        )
    _check_info(info, path)
    return info


def _check_info(info: dict[str, Any], path: Path) -> None:
    """Raise RuleSafeError unless the entries that are read have the right types."""
    count, found = info.get("total_episodes"), info.get("features")
    if not _is_count(count):
        raise RuleSafeError(f"{path} is damaged: total_episodes is {reprlib.repr(count)}")
    for key, feature in found.items() if isinstance(found, dict) else [("", None)]:
        known = feature if isinstance(feature, dict) else {}
        dtype, shape = known.get("dtype"), known.get("shape")
        if dtype not in DTYPES or not isinstance(shape, list) or not all(map(_is_count, shape)):
            raise RuleSafeError(
                f"{path}: unsupported dtype or shape of the feature {reprlib.repr(key)}; valid "
                f"dtypes: {', '.join(DTYPES)}"
            )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT


def read_extension(root: Path) -> dict[str, Any]:
    """Read meta/rulesafe.json; raise RuleSafeError if it is missing or of another version."""
    path = root / EXTENSION
    if not path.is_file():
        raise RuleSafeError(
            f"{root} is a LeRobot dataset, but not of RuleSafe: {EXTENSION} is missing"
        )
    extension = read_json(path, "a dataset's meta/rulesafe.json")
    if extension.get("version") != EXTENSION_VERSION:
        raise RuleSafeError(
            f"{path} is of version {extension.get('version')!r}; supported: {EXTENSION_VERSION}"
        )
    digest, points = extension.get("digest"), extension.get("points", "missing")
    if not isinstance(digest, str) or not (points is None or _is_count(points)):
        raise RuleSafeError(f"{path} is damaged: it requires a digest and the number of points")
    if not isinstance(extension.get("versions"), dict):
        raise RuleSafeError(f"{path} is damaged: its versions are no mapping")
    return extension
