"""Privileged data of a dataset (folder privileged/), which no policy and no memory may read."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_data import layout, tables


class Privileged:
    """Facts of episodes (rule, safe, seed, outcome) and the state of the lock at each frame, for
    statistics, labels and checks. Raises RuleSafeError for an unknown episode."""

    def __init__(self, root: Path, episodes: int):
        self._root, self._episodes = root, episodes
        self._facts: list[dict[str, Any]] | None = None

    def facts(self, episode: int) -> dict[str, Any]:
        """Return the facts of an episode."""
        self._check(episode)
        if self._facts is None:
            column = pq.read_table(self._root / layout.PRIVILEGED_EPISODES, columns=["facts"])
            self._facts = [json.loads(text) for text in column.column("facts").to_pylist()]
        return dict(self._facts[episode])

    def frames(self, episode: int) -> dict[str, NDArray[Any]]:
        """Return the privileged columns of an episode, N rows each, and `frame_index`."""
        self._check(episode)
        return tables.read_columns(layout.privileged_file(self._root, episode))

    def _check(self, episode: int) -> None:
        if not 0 <= episode < self._episodes:
            raise RuleSafeError(
                f"{self._root} has episodes 0 to {self._episodes - 1}, not {episode}"
            )
