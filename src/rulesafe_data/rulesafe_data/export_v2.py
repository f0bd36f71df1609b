"""Export a dataset to LeRobot's format v2.1, which openpi reads, and to GR00T's variant of it.

Reference: `lerobot/datasets` of lerobot 0.3.3, whose format version is "v2.1", and "Robot Data
Preparation" of Isaac GR00T (`meta/modality.json`). Point clouds and privileged data are not
exported: these formats have none.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import draft_file, write_atomically
from rulesafe_data import layout, tables
from rulesafe_data.files import write_json
from rulesafe_data.statistics import of_array
from rulesafe_data.store import EpisodeStore
from rulesafe_locks.instructions import Length
from rulesafe_locks.lock_sets import instruction_for

VERSION = "v2.1"

DATA_PATH = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
VIDEO_PATH = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"

STATISTICS = ("min", "max", "mean", "std", "count", "q01", "q99")
"""Statistics of each key; LeRobot v2.1 has no quantiles, but ignores them."""

REQUEST = "meta/export.json"
"""What was exported: the digest of the dataset, whether it is for GR00T, the length of the
instructions, and the description of the memory, if the export contains tokens."""


@dataclass(frozen=True)
class ExportedMemory:
    """The memory whose tokens are exported.

    Attributes:
        length: M, number of tokens per frame.
        description: kind, settings and hash of the memory, written to REQUEST.
        read: returns the tokens (N, M) int64 and their mask (N, M) bool at every frame of an
            episode's joint positions (N, 13) float32, rad.
    """

    length: int
    description: Mapping[str, Any]
    read: Callable[[NDArray[np.float32]], tuple[NDArray[np.int64], NDArray[np.bool_]]]

    def columns(self, positions: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
        """Return the columns of an episode. As LeRobot requires, one value per frame is (N,)."""
        found = zip((layout.MEMORY, layout.MEMORY_MASK), self.read(positions), strict=True)
        return {key: array[:, 0] if self.length == 1 else array for key, array in found}

    def features(self) -> dict[str, dict[str, Any]]:
        """Return the entries of the columns in meta/info.json."""
        dtypes = {layout.MEMORY: "int64", layout.MEMORY_MASK: "bool"}
        return {
            key: {"dtype": dtype, "shape": [self.length], "names": None}
            for key, dtype in dtypes.items()
        }


def export(
    root: Path,
    out: Path,
    groot: bool = False,
    on_episode: Callable[[], object] = lambda: None,
    instruction: Length = "long",
    memory: ExportedMemory | None = None,
) -> list[str]:
    """Write a dataset to a new directory in the format v2.1; return its instructions.

    An interrupted export is resumed by the same call; meta/info.json is written last.

    Args:
        root: the dataset.
        out: the new directory.
        groot: also write meta/modality.json for GR00T.
        on_episode: called after each episode.
        instruction: length of the instructions; "long": those of the dataset.
        memory: also write the tokens of this memory at each frame.

    Raises:
        RuleSafeError: `root` is not a dataset, or `out` has other files or another export.
    """
    store = EpisodeStore(root)
    request: dict[str, Any] = {"dataset": store.digest, "groot": groot, "instruction": instruction}
    if memory:
        request["memory"] = dict(memory.description)
    order = dict.fromkeys(episode.task for episode in store.episodes)
    tasks = {task: instruction_for(task, instruction) for task in order}
    _begin(out, request)
    cameras = [key for key in layout.CAMERAS if key in store.features]
    keys = [key for key in store.keys if key not in (*cameras, layout.POINTS)]
    statistics = []
    for episode in store.episodes:
        place = {"episode_chunk": episode.index // layout.CHUNK_SIZE}
        place["episode_index"] = episode.index
        columns = store.episode(episode.index, keys)
        if memory:
            columns |= memory.columns(columns[layout.STATE])
        path = out / DATA_PATH.format(**place)
        if not path.exists():
            tables.write_table(path, tables.to_table(columns, {}))
        for key in cameras:
            video = out / VIDEO_PATH.format(video_key=key, **place)
            if not video.exists():
                video.parent.mkdir(parents=True, exist_ok=True)
                with draft_file(video) as draft:
                    shutil.copyfile(layout.video_file(store.root, key, episode.index), draft)
        found = {key: of_array(array) for key, array in columns.items()}
        found |= tables.about(layout.data_file(store.root, episode.index)).get("pictures", {})
        chosen = {
            key: {name: each[name] for name in STATISTICS if name in each}
            for key, each in found.items()
        }
        statistics.append({"episode_index": episode.index, "stats": chosen})
        on_episode()
    rows = [{"task_index": index, "task": task} for index, task in enumerate(tasks.values())]
    _write_lines(out / "meta/tasks.jsonl", rows)
    episodes = [
        {"episode_index": each.index, "tasks": [tasks[each.task]], "length": each.length}
        for each in store.episodes
    ]
    _write_lines(out / "meta/episodes.jsonl", episodes)
    _write_lines(out / "meta/episodes_stats.jsonl", statistics)
    if groot:
        write_json(out / "meta/modality.json", _modality(cameras))
    info = _info(store, len(tasks), cameras)
    if memory:
        info["features"] |= memory.features()
    texts = list(tasks.values())
    write_atomically(out / "README.md", _card(info, texts).encode())
    write_json(out / layout.INFO, info)
    return texts


def _begin(out: Path, request: dict[str, Any]) -> None:
    """Create the directory, or check that it has an export of the same request."""
    about = out / REQUEST
    if not about.is_file() and out.exists() and any(out.iterdir()):
        raise RuleSafeError(f"{out} has other files: give a new directory")
    if about.is_file() and json.loads(about.read_text("utf-8")) != request:
        raise RuleSafeError(
            f"{out} has the export of another dataset, format, instruction or memory: give a new "
            "directory"
        )
    write_json(about, request)


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    write_atomically(path, "".join(f"{json.dumps(row)}\n" for row in rows).encode())


def _info(store: EpisodeStore, tasks: int, cameras: list[str]) -> dict[str, Any]:
    shape = store.features[cameras[0]]["shape"] if cameras else None
    count = len(store)
    info = layout.info(count, store.frames, tasks, shape, layout.SUBTASK in store.features)
    for name in ("data_files_size_in_mb", "video_files_size_in_mb"):
        del info[name]
    return info | {
        "codebase_version": VERSION,
        "total_videos": count * len(cameras),
        "total_chunks": -(-count // layout.CHUNK_SIZE),
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH if cameras else None,
    }


def _modality(cameras: list[str]) -> dict[str, Any]:
    """Return meta/modality.json: the parts of state and action, the cameras, the instruction."""
    names = {key.rpartition(".")[2]: {"original_key": key} for key in cameras}
    ranges = {key: {"start": p.start, "end": p.stop} for key, p in layout.GROOT_PARTS.items()}
    task = {layout.GROOT_TASK: {"original_key": "task_index"}}
    return {"state": ranges, "action": ranges, "video": names, "annotation": task}


def _card(info: Mapping[str, Any], tasks: list[str]) -> str:
    """Return the dataset card of a hub."""
    shapes = {key: tuple(feature["shape"]) for key, feature in info["features"].items()}
    rows = "\n".join(f"| `{key}` | {shape} |" for key, shape in shapes.items())
    instructions = "\n".join(f"- {task}" for task in tasks)
    count, seconds = info["total_episodes"], np.round(info["total_frames"] / layout.FPS)
    return f"""---
license: apache-2.0
task_categories:
- robotics
tags:
- LeRobot
- RuleSafe
- unitree_h1_2
configs:
- config_name: default
  data_files: data/*/*.parquet
---

# RuleSafe demonstrations

{count} simulated episodes ({seconds:.0f} s at {layout.FPS} Hz) in which the right arm and hand
of a Unitree H1-2 open a safe under the rule of the instruction, in LeRobot's format {VERSION}.
State and action are absolute positions of the same 13 joints (rad): seven of the arm, six of the
hand.

| key | shape |
|---|---|
{rows}

## Instructions

{instructions}
"""
