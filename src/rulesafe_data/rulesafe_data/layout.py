"""Where things lie in a dataset and what they are called: LeRobot's dataset format v3.0.

Followed: `lerobot/datasets` of lerobot 0.4.4 (`utils.py`, `lerobot_dataset.py`), whose format
version is "v3.0". One file holds one episode here, which that format allows: episode i is file
i % 1000 of chunk i // 1000, of the tables and of every camera's videos.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_data.files import read_json

VERSION = "v3.0"
"""LeRobot's format version, `codebase_version` of meta/info.json."""

OWN_VERSION = 1
"""Version of what LeRobot's format does not know: clouds, privileged files, meta/rulesafe.json."""

FPS = SECOND // PERIOD
CHUNK_SIZE = 1000
ROBOT = "unitree_h1_2"

STATE, VELOCITY, ACTION = "observation.state", "observation.velocity", "action"
CAMERAS = ("observation.images.head", "observation.images.front")
POINTS = "observation.points"
TABLE_KEYS = (STATE, VELOCITY, ACTION)
"""The keys of joint space, each with one vector of float32 per frame."""

INDEX_KEYS = ("timestamp", "frame_index", "episode_index", "index", "task_index")
"""The keys that LeRobot's format demands: s (float32), and four int64."""

JOINT_NAMES = {STATE: ALL_JOINTS, VELOCITY: ALL_JOINTS, ACTION: ACTION_JOINTS}

FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}"
DATA_PATH = f"data/{FILE}.parquet"
VIDEO_PATH = f"videos/{{video_key}}/{FILE}.mp4"
EPISODES_PATH = f"meta/episodes/{FILE}.parquet"
INFO, STATS, TASKS = "meta/info.json", "meta/stats.json", "meta/tasks.parquet"
OWN = "meta/rulesafe.json"
CLOUDS = "clouds.zarr"
PRIVILEGED_PATH = f"privileged/{FILE}.parquet"
PRIVILEGED_EPISODES = "privileged/episodes.parquet"
WRITING = ".writing"
"""Where clouds grow until they are complete; what a killed writer left there means nothing."""


def place(index: int) -> dict[str, int]:
    """The `chunk_index` and `file_index` of an episode's files."""
    return {"chunk_index": index // CHUNK_SIZE, "file_index": index % CHUNK_SIZE}


def data_file(root: Path, index: int) -> Path:
    """An episode's table. It is written last: where it is, the episode is complete."""
    return root / DATA_PATH.format(**place(index))


def video_file(root: Path, key: str, index: int) -> Path:
    """An episode's video of one camera."""
    return root / VIDEO_PATH.format(video_key=key, **place(index))


def privileged_file(root: Path, index: int) -> Path:
    """What a policy may not read of each frame of an episode."""
    return root / PRIVILEGED_PATH.format(**place(index))


def cloud_name(index: int) -> str:
    """Name of an episode's group in clouds.zarr."""
    return f"episode_{index:06d}"


def features(image_shape: Sequence[int] | None) -> dict[str, dict[str, Any]]:
    """`features` of meta/info.json: dtype, shape and names of every key but the clouds'.

    Args:
        image_shape: height, width and 3 of the cameras' pictures; None: no pictures.
    """
    found: dict[str, dict[str, Any]] = {
        key: {"dtype": "float32", "shape": [len(names)], "names": list(names)}
        for key, names in JOINT_NAMES.items()
    }
    if image_shape is not None:
        height, width, channels = image_shape
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
        names = ["height", "width", "channels"]
        for key in CAMERAS:
            found[key] = {
                "dtype": "video",
                "shape": list(image_shape),
                "names": names,
                "info": dict(info),
            }
    for key in INDEX_KEYS:
        dtype = "float32" if key == "timestamp" else "int64"
        found[key] = {"dtype": dtype, "shape": [1], "names": None}
    return found


def info(
    episodes: int, frames: int, tasks: int, image_shape: Sequence[int] | None
) -> dict[str, Any]:
    """The content of meta/info.json."""
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
        "video_path": None if image_shape is None else VIDEO_PATH,
        "features": features(image_shape),
    }


def read_info(root: Path) -> dict[str, Any]:
    """meta/info.json. Errors: RuleSafeError if there is no dataset, or one of another version."""
    path = root / INFO
    if not path.is_file():
        unfinished = " (episodes are there, but DatasetWriter.finish() was not called)"
        raise RuleSafeError(
            f"{root} is not a dataset: {INFO} is missing"
            + (unfinished if (root / "data").is_dir() else "")
            + "; `rulesafe demos render` and `rulesafe bag to-dataset` make one"
        )
    info = read_json(path, "a dataset's meta/info.json")
    if info.get("codebase_version") != VERSION:
        raise RuleSafeError(
            f"{root} is a dataset of version {info.get('codebase_version')!r}; "
            f"{VERSION!r} is what can be read"
        )
    return info


def read_own(root: Path) -> dict[str, Any]:
    """meta/rulesafe.json. Errors: RuleSafeError if it is missing or of another version."""
    path = root / OWN
    if not path.is_file():
        raise RuleSafeError(f"{root} is a LeRobot dataset but none of RuleSafe: no {OWN}")
    own = read_json(path, "a dataset's meta/rulesafe.json")
    if own.get("version") != OWN_VERSION:
        raise RuleSafeError(
            f"{path} is of version {own.get('version')!r}; {OWN_VERSION} is what can be read"
        )
    return own
