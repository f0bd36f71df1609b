"""Write meta/ of a dataset from its episodes.

The schema metadata of each episode's table contains everything that meta/ needs, so that only the
headers of the tables are read. A table is rewritten only if the columns that depend on other
episodes (`index`, `task_index`) have changed.
"""

import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import remove_drafts
from rulesafe_data import layout, tables
from rulesafe_data.files import write_json
from rulesafe_data.statistics import merged, of_array


@dataclass(frozen=True)
class _Episode:
    """Metadata of an episode's Parquet file.

    `first_index` and `task_index` are the values in its first row.
    """

    length: int
    about: dict[str, Any]
    first_index: int
    task_index: int


def finish(root: Path) -> None:
    """See `DatasetWriter.finish`."""
    episodes = [_read_header(layout.data_file(root, index)) for index in _numbers(root)]
    image_shape, points = _common(episodes, "image_shape"), _common(episodes, "points")
    subtasks, cameras = bool(_common(episodes, "subtasks")), _common(episodes, "cameras")
    versions = _common(episodes, "versions")
    tasks = list(dict.fromkeys(episode.about["task"] for episode in episodes))
    starts = np.cumsum([0] + [episode.length for episode in episodes]).tolist()
    statistics = []
    for index, episode in enumerate(episodes):
        task = tasks.index(episode.about["task"])
        _update_indices(layout.data_file(root, index), episode, starts[index], task)
        statistics.append(_statistics(episode, index, starts[index], task))
    _write_privileged(root, len(episodes))
    _write_texts(root / layout.TASKS, "task", tasks)
    if subtasks:
        _write_texts(root / layout.SUBTASK_TABLE, "subtask", layout.SUBTASK_TEXTS)
    joined = {key: merged([part[key] for part in statistics]) for key in statistics[0]}
    write_json(root / layout.STATS, joined)
    _write_episodes(root, episodes, starts, statistics)
    digests = [episode.about["digest"] for episode in episodes]
    extension = {
        "version": layout.EXTENSION_VERSION,
        "points": points,
        "digest": hashlib.sha256("".join(digests).encode()).hexdigest(),
        **({"cameras": cameras} if cameras else {}),
        **({} if versions is None else {"versions": versions}),
    }
    write_json(root / layout.EXTENSION, extension)
    images = dict.fromkeys(episodes[0].about.get("pictures", ()), image_shape)
    info = layout.info(len(episodes), starts[-1], len(tasks), images, subtasks)
    write_json(root / layout.INFO, info)  # last, since it marks the dataset as complete
    _clean(root)


def _clean(root: Path) -> None:
    """Remove temporary files of killed writers."""
    shutil.rmtree(root / layout.WRITING, ignore_errors=True)
    for part in ("meta", "data", "videos", "privileged"):
        remove_drafts(root / part)
    remove_drafts(root / layout.CLOUDS, ".*")


def _numbers(root: Path) -> range:
    """Return the numbers of the episodes, which must be 0 to n - 1."""
    found = set()
    for path in (root / "data").glob("chunk-*/file-*.parquet"):
        chunk, file = map(int, re.findall(r"\d+", f"{path.parent.name}/{path.stem}"))
        found.add(chunk * layout.CHUNK_SIZE + file)
    if not found:
        raise RuleSafeError(f"no episode in {root}: write at least one before finish()")
    missing = sorted(set(range(max(found) + 1)) - found)
    if missing:
        shown = ", ".join(map(str, missing[:10])) + (" ..." if len(missing) > 10 else "")
        raise RuleSafeError(
            f"episodes are missing in {root}: {shown} ({len(missing)} of {max(found) + 1}); "
            "write them before finish()"
        )
    return range(len(found))


def _read_header(path: Path) -> _Episode:
    with tables.open_table(path) as file:
        names = file.schema_arrow.names
        about = tables.metadata_of(file)
        group = file.metadata.row_group(0)

        def first(name: str) -> int:
            leaf = next(
                column
                for column in map(group.column, range(group.num_columns))
                if column.path_in_schema == name
            )
            return int(leaf.statistics.min)

        assert set(layout.INDEX_KEYS) <= set(names)
        return _Episode(file.metadata.num_rows, about, first("index"), first("task_index"))


def _common(episodes: Sequence[_Episode], key: str) -> Any:
    """Return the value of `key`, which must be the same in all episodes."""
    counts = Counter(json.dumps(episode.about.get(key)) for episode in episodes)
    if len(counts) > 1:
        shown = ", ".join(f"{value} in {count}" for value, count in counts.most_common(4))
        raise RuleSafeError(f"all episodes of a dataset must have the same {key}; found {shown}")
    return episodes[0].about.get(key)


def _update_indices(path: Path, episode: _Episode, start: int, task: int) -> None:
    """Rewrite `index` and `task_index` of an episode's table if they have changed."""
    if (episode.first_index, episode.task_index) == (start, task):
        return
    with tables.open_table(path) as file:
        table = file.read(use_threads=False)
    columns = {
        "index": np.arange(start, start + episode.length),
        "task_index": np.full(episode.length, task),
    }
    for name, column in columns.items():
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(column))
    tables.write_table(path, table)


def _statistics(episode: _Episode, index: int, start: int, task: int) -> dict[str, dict[str, Any]]:
    """Return the statistics of every key of an episode."""
    count = np.arange(episode.length)
    found = dict(episode.about["statistics"]) | episode.about.get("pictures", {})
    columns = {
        "timestamp": count / layout.FPS,
        "frame_index": count,
        "episode_index": np.full(episode.length, index),
        "index": start + count,
        "task_index": np.full(episode.length, task),
    }
    return found | {key: of_array(column) for key, column in columns.items()}


def _write_texts(path: Path, name: str, texts: Sequence[str]) -> None:
    """Write a table of texts: `{name}_index`, with the text as the pandas index."""
    index = f"{name}_index"
    table = pa.table({index: pa.array(range(len(texts)), pa.int64()), name: list(texts)})

    def column(field: str | None, kind: str, numpy_type: str) -> dict[str, Any]:
        return {
            "name": field,
            "field_name": field,
            "pandas_type": kind,
            "numpy_type": numpy_type,
            "metadata": None,
        }

    pandas = {
        "index_columns": [name],
        "column_indexes": [column(None, "unicode", "object") | {"metadata": {"encoding": "UTF-8"}}],
        "columns": [column(index, "int64", "int64"), column(name, "unicode", "object")],
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.0.0",
    }
    table = table.replace_schema_metadata({b"pandas": json.dumps(pandas).encode()})
    tables.write_table(path, table)


def _write_episodes(
    root: Path,
    episodes: Sequence[_Episode],
    starts: Sequence[int],
    statistics: Sequence[Mapping[str, Mapping[str, Any]]],
) -> None:
    """Write meta/episodes: one row per episode, one file per thousand episodes."""
    rows = []
    for index, episode in enumerate(episodes):
        place = layout.place(index)
        row: dict[str, Any] = {
            "episode_index": index,
            "tasks": [episode.about["task"]],
            "length": episode.length,
            "dataset_from_index": starts[index],
            "dataset_to_index": starts[index + 1],
        }
        row |= {f"data/{name}": number for name, number in place.items()}
        for key in episode.about.get("pictures", ()):
            row |= {f"videos/{key}/{name}": number for name, number in place.items()}
            row[f"videos/{key}/from_timestamp"] = 0.0
            row[f"videos/{key}/to_timestamp"] = episode.length / layout.FPS
        for key, found in statistics[index].items():
            row |= {f"stats/{key}/{name}": value for name, value in found.items()}
        row["meta/episodes/chunk_index"] = 0
        row["meta/episodes/file_index"] = index // layout.CHUNK_SIZE
        rows.append(row)
    written = set()
    for file in range(0, len(rows), layout.CHUNK_SIZE):
        part = rows[file : file + layout.CHUNK_SIZE]
        number = file // layout.CHUNK_SIZE
        path = root / layout.EPISODES_PATH.format(chunk_index=0, file_index=number)
        tables.write_table(path, pa.Table.from_pylist(part))
        written.add(path)
    for path in (root / "meta" / "episodes").glob("*/*.parquet"):
        if path not in written:
            path.unlink()


def _write_privileged(root: Path, count: int) -> None:
    """Write privileged/episodes.parquet: the facts of each episode as JSON; facts of one plain type
    also as columns."""
    facts = [tables.about(layout.privileged_file(root, index))["facts"] for index in range(count)]
    columns: dict[str, Any] = {"episode_index": list(range(count))}
    for name in facts[0]:
        values = [fact.get(name) for fact in facts]
        for kind in (bool, int, float, str):
            if name != "facts" and all(type(value) is kind for value in values):
                columns[name] = values
    columns["facts"] = [json.dumps(fact) for fact in facts]
    tables.write_table(root / layout.PRIVILEGED_EPISODES, pa.table(columns))
