"""Export a dataset for Isaac GR00T: LeRobot's format v2.1 with meta/modality.json.

Reference: NVIDIA, Isaac GR00T, "Robot Data Preparation".
"""

from pathlib import Path
from typing import Any

from rulesafe_data.store import EpisodeStore
from rulesafe_locks.instructions import Length
from rulesafe_openpi.commands import export_v2

PARTS = {"right_arm": slice(0, 7), "right_hand": slice(7, 13)}
"""Parts of state and action by their keys in modality.json."""

TASK = "human.task_description"
"""Key of the instruction there; in GR00T's modality configurations `annotation.` precedes it."""


def export(
    directory: Path,
    out: Path,
    instruction: Length,
    memory_model: str | None,
    clusters: int | None,
    length: int | None,
) -> None:
    """Write a dataset in the format `groot` of `rulesafe demos export`, which describes the
    arguments."""
    files = {"meta/modality.json": modality(directory)}
    export_v2(directory, out, instruction, memory_model, clusters, length, files)


def modality(directory: Path) -> dict[str, Any]:
    """Return meta/modality.json of a dataset: the parts of state and action, the cameras, the
    instruction."""
    images = EpisodeStore(directory).images
    names = {key.rpartition(".")[2]: {"original_key": key} for key in images}
    ranges = {key: {"start": part.start, "end": part.stop} for key, part in PARTS.items()}
    task = {TASK: {"original_key": "task_index"}}
    return {"state": ranges, "action": ranges, "video": names, "annotation": task}
