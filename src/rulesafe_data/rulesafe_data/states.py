"""Joint positions and actions of many episodes in one small file, suitable for version control.

This is the training data of a memory: no images and no state of the lock. The only privileged
column is `rule`, a label.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data import layout, tables
from rulesafe_data.store import EpisodeStore

KIND = "rulesafe states 1"
POSITIONS = tuple(f"position.{joint}" for joint in ACTION_JOINTS)
ACTIONS = tuple(f"action.{joint}" for joint in ACTION_JOINTS)


@dataclass(frozen=True)
class States:
    """Joint positions and actions of E episodes with F frames in total.

    Attributes:
        positions: (F, 13) float32, rad, positions of the action joints.
        actions: (F, 13) float32, rad.
        starts: (E + 1,) index of the first frame of each episode, then F.
        rules: rule of each episode; "" if unknown.
    """

    positions: NDArray[np.float32] = field(repr=False)
    actions: NDArray[np.float32] = field(repr=False)
    starts: NDArray[np.int64] = field(repr=False)
    rules: tuple[str, ...]

    def __len__(self) -> int:
        """Number of episodes."""
        return len(self.rules)

    def __iter__(self) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, episode: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return views of the positions and actions (N, 13) of an episode."""
        if not 0 <= episode < len(self):
            raise RuleSafeError(f"no episode {episode}; valid: 0 to {len(self) - 1}")
        rows = slice(self.starts[episode], self.starts[episode + 1])
        return self.positions[rows], self.actions[rows]


def export_states(root: Path | str, file: Path | str) -> None:
    """Export the states of a dataset to one Parquet file; the output is reproducible.

    Columns: `episode`, `frame` (int32), `rule` (string), `position.JOINT` and `action.JOINT` for
    the 13 joints (float32, rad).

    Raises:
        RuleSafeError: `root` is not a dataset.
    """
    store = EpisodeStore(root)
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in ("episode", "frame")}
    columns |= {name: [] for name in (*POSITIONS, *ACTIONS)}
    rules: list[int] = []
    names: list[str] = []
    for episode in store.episodes:
        found = store.episode(episode.index, [layout.STATE, layout.ACTION])
        columns["episode"].append(np.full(episode.length, episode.index, np.int32))
        columns["frame"].append(np.arange(episode.length, dtype=np.int32))
        for place, position in enumerate(POSITIONS):
            columns[position].append(found[layout.STATE][:, place])
        for place, action in enumerate(ACTIONS):
            columns[action].append(found[layout.ACTION][:, place])
        rule = str(store.privileged.facts(episode.index).get("rule", ""))
        if rule not in names:
            names.append(rule)
        rules += [names.index(rule)] * episode.length
    table = pa.table({name: np.concatenate(parts) for name, parts in columns.items()})
    coded = pa.DictionaryArray.from_arrays(pa.array(rules, pa.int32()), pa.array(names))
    table = table.append_column("rule", coded.cast(pa.string()))
    about = {"kind": KIND, "fps": layout.FPS, "digest": store.digest}
    # Byte stream split makes the file a third smaller.
    tables.write_table(
        Path(file),
        tables.with_metadata(table, json.dumps(about)),
        compression_level=19,
        use_dictionary=["episode", "rule"],
        use_byte_stream_split=[*POSITIONS, *ACTIONS],
    )


def load_states(file: Path | str) -> States:
    """Read a file of `export_states`.

    Raises:
        RuleSafeError: the file does not exist or has another format.
    """
    path = Path(file)
    if not path.is_file():
        raise RuleSafeError(f"the file of states {path} does not exist")
    kind = tables.about(path).get("kind")
    if kind != KIND:
        raise RuleSafeError(f"{path} has the format {kind!r}; expected {KIND!r}")
    columns = tables.read_columns(path)
    starts = np.flatnonzero(np.diff(columns["episode"], prepend=-1))
    return States(
        positions=np.column_stack([columns[name] for name in POSITIONS]),
        actions=np.column_stack([columns[name] for name in ACTIONS]),
        starts=np.append(starts, len(columns["episode"])),
        rules=tuple(columns["rule"][starts].tolist()),
    )
