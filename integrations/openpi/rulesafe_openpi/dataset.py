"""Export a dataset to LeRobot's format v2.1, which openpi reads.

Reference: `lerobot/datasets` of lerobot 0.3.3, whose format version is "v2.1". Point clouds and
privileged data are not exported: the format has none.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import draft_file, write_atomically
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data import layout, tables
from rulesafe_data.files import write_json
from rulesafe_data.statistics import of_array
from rulesafe_data.store import EpisodeStore
from rulesafe_locks.instructions import EXPORT_LENGTH, Length
from rulesafe_locks.lock_sets import instruction_for
from vq_memory_node.memory import Memory, make_memory
from vq_memory_node.rolling import readings_of

VERSION = "v2.1"

DATA_PATH = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
VIDEO_PATH = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"

STATISTICS = ("min", "max", "mean", "std", "count", "q01", "q99")
"""Statistics of each key; LeRobot v2.1 has no quantiles, but ignores them."""

STATISTICS_FILE = "meta/episodes_stats.jsonl"

CONSTANT = 1e-4
"""Smallest range of the positions of a joint that moves, rad."""

REQUEST = "meta/export.json"
"""What was exported: the digest of the dataset, the length of the instructions, the description of
the memory, if the export contains tokens, and the names of the additional files."""


def exported_memory(model: str, clusters: int | None = None, length: int | None = None) -> Memory:
    """Return the memory of a model. Its exported tokens are those that a policy with this memory
    receives at the same frame of an episode.

    Args:
        model: name or folder of a memory model.
        clusters: J, number of different tokens; None: the default of the memory.
        length: M, number of tokens per frame, 2 s apart; None: the default of the memory.

    Raises:
        RuleSafeError: the model is missing or damaged, or a setting is not valid.
    """
    return make_memory("vq", model=model, clusters=clusters, length=length)


def export(
    root: Path,
    out: Path,
    instruction: Length = EXPORT_LENGTH,
    memory: Memory | None = None,
    files: Mapping[str, Any] = MappingProxyType({}),
    on_episode: Callable[[], object] = lambda: None,
) -> list[str]:
    """Write a dataset to a new directory in the format v2.1; return its instructions.

    An interrupted export is resumed by the same call; meta/info.json is written last.

    Args:
        root: the dataset.
        out: the new directory.
        instruction: length of the instructions; "long": those of the dataset.
        memory: also write the tokens of this memory at each frame.
        files: path in `out` -> content of additional JSON files.
        on_episode: called after each episode.

    Raises:
        RuleSafeError: `root` is not a dataset, or `out` has other files or another export.
    """
    store = EpisodeStore(root)
    request: dict[str, Any] = {"dataset": store.digest, "versions": store.versions}
    request["instruction"] = instruction
    request |= {"files": sorted(files)} | ({"memory": memory.describe()} if memory else {})
    order = dict.fromkeys(episode.task for episode in store.episodes)
    tasks = {task: instruction_for(task, instruction) for task in order}
    _begin(out, request)
    keys = [key for key in store.keys if key not in (*store.images, layout.POINTS)]
    statistics = []
    for episode in store.episodes:
        place = {"episode_chunk": episode.index // layout.CHUNK_SIZE}
        place["episode_index"] = episode.index
        columns = store.episode(episode.index, keys)
        if memory:
            columns |= _tokens(memory, columns[layout.STATE])
        path = out / DATA_PATH.format(**place)
        if not path.exists():
            tables.write_table(path, tables.to_table(columns, {}))
        for key in store.images:
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
    _write_lines(out / STATISTICS_FILE, statistics)
    for name, content in files.items():
        write_json(out / name, content)
    info = _info(store, len(tasks))
    if memory:
        info["features"] |= {
            key: {"dtype": dtype, "shape": [memory.length], "names": None}
            for key, dtype in ((layout.MEMORY, "int64"), (layout.MEMORY_MASK, "bool"))
        }
    texts = list(tasks.values())
    write_atomically(out / "README.md", _card(info, texts).encode())
    write_json(out / layout.INFO, info)
    return texts


def constant_joints(out: Path) -> list[str]:
    """Return the joints of state and action, such as "action R_thumb_proximal_yaw_joint", that
    move less than CONSTANT in the complete export. Models that divide by their standard deviation
    or range, almost 0, amplify the noise of a robot."""
    lines = (out / STATISTICS_FILE).read_text("utf-8").splitlines()
    rows = [json.loads(line)["stats"] for line in lines]
    found = []
    for key in (layout.STATE, layout.ACTION):
        lower, upper = (np.array([row[key][name] for row in rows]) for name in ("min", "max"))
        moved = upper.max(axis=0) - lower.min(axis=0)
        found += [f"{key} {ACTION_JOINTS[i]}" for i in np.flatnonzero(moved < CONSTANT)]
    return found


def _tokens(memory: Memory, positions: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
    """Return the columns of the memory in an episode with these joint positions (N, 13), rad: one
    of shape (N, M) each. As LeRobot requires, one value per frame is (N,)."""
    readings = readings_of(positions, memory)
    found = {layout.MEMORY: readings.values, layout.MEMORY_MASK: readings.mask}
    return {key: array[:, 0] if memory.length == 1 else array for key, array in found.items()}


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


def _info(store: EpisodeStore, tasks: int) -> dict[str, Any]:
    images = {key: store.features[key]["shape"] for key in store.images}
    count = len(store)
    info = layout.info(count, store.frames, tasks, images, layout.SUBTASK in store.features)
    for name in ("data_files_size_in_mb", "video_files_size_in_mb"):
        del info[name]
    return info | {
        "codebase_version": VERSION,
        "total_videos": count * len(images),
        "total_chunks": -(-count // layout.CHUNK_SIZE),
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH if images else None,
    }


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
