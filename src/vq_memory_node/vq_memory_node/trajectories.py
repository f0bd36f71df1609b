"""Joint positions of episodes, loaded from recordings, a dataset or a .parquet file."""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import ACTION_INDICES
from rulesafe_data import layout
from rulesafe_data.states import load_states
from rulesafe_data.store import EpisodeStore
from rulesafe_data.tables import read_columns

STEPS = "steps_done"
"""The privileged column with the true step: number of completed steps of the rule's plan."""


@dataclass(frozen=True)
class Trajectories:
    """Joint positions of E episodes at 10 Hz; frame t is the instant t * 0.1 s after the reset.

    Attributes:
        positions: joint positions of each episode, (N, 13) float32, rad, order of ACTION_JOINTS.
        rules: the rule of each episode, "" if unknown.
        safes: the safe of each episode, "" if unknown.
        steps: number of completed steps of the plan in each episode, (N,) int64; None if the
            source lacks it. Privileged: only for figures and measurements, never for the training
            of a memory or a policy.
    """

    positions: tuple[NDArray[np.float32], ...]
    rules: tuple[str, ...]
    safes: tuple[str, ...]
    steps: tuple[NDArray[np.int64], ...] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        """Number of episodes."""
        return len(self.positions)

    @property
    def frames(self) -> int:
        """Total number of frames."""
        return sum(map(len, self.positions))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of rules and positions, hexadecimal; independent of the source's format."""
        found = hashlib.sha256()
        for rule, positions in zip(self.rules, self.positions, strict=True):
            found.update(f"{rule} {len(positions)}\n".encode())
            found.update(positions.astype("<f4").tobytes())
        return found.hexdigest()

    def take(self, episodes: Iterable[int]) -> "Trajectories":
        """Return the episodes with these indices, in order; RuleSafeError for an invalid index."""
        chosen = [int(episode) for episode in episodes]
        for episode in chosen:
            if not 0 <= episode < len(self):
                raise RuleSafeError(f"no episode {episode}; valid: 0 to {len(self) - 1}")
        return Trajectories(
            tuple(self.positions[i] for i in chosen),
            tuple(self.rules[i] for i in chosen),
            tuple(self.safes[i] for i in chosen),
            None if self.steps is None else tuple(self.steps[i] for i in chosen),
        )

    def of_rules(self, rules: Collection[str]) -> "Trajectories":
        """Return the episodes of these rules; RuleSafeError for a rule without episodes."""
        for rule in rules:
            if rule not in self.rules:
                raise unknown_name("rule", rule, sorted(set(self.rules)))
        return self.take(i for i, rule in enumerate(self.rules) if rule in rules)


def load_trajectories(path: Path | str) -> Trajectories:
    """Load the successful episodes, in the order that they have in a dataset.

    Args:
        path: a .parquet file of `rulesafe demos export` (without steps and safes), a dataset, or
            the folder of recordings of `rulesafe demos generate --passes states`. If a folder is
            both, the dataset is used.

    Raises:
        RuleSafeError: the path is none of these, or contains no episode.
    """
    source = Path(path)
    if source.is_file() or source.suffix == ".parquet":
        found = _of_states(source)
    elif (source / layout.INFO).is_file():
        found = _of_dataset(source)
    elif (source / "generate.json").is_file():
        found = _of_recordings(source)
    else:
        raise RuleSafeError(
            f"no demonstrations at {source}; valid: a .parquet file of `rulesafe demos export`, a "
            "dataset, a folder of `rulesafe demos generate`"
        )
    if not found.frames:
        raise RuleSafeError(f"{source} contains no episode yet")
    return found


def _of_states(path: Path) -> Trajectories:
    states = load_states(path)
    positions = tuple(states[i][0] for i in range(len(states)))
    return Trajectories(positions, states.rules, ("",) * len(states))


def _of_dataset(root: Path) -> Trajectories:
    store = EpisodeStore(root)
    positions, rules, safes, steps = [], [], [], []
    for episode in store.episodes:
        state = store.episode(episode.index, [layout.STATE])[layout.STATE]
        positions.append(np.ascontiguousarray(state, np.float32))
        facts = store.privileged.facts(episode.index)
        rules.append(str(facts.get("rule", "")))
        safes.append(str(facts.get("safe", "")))
        steps.append(store.privileged.frames(episode.index).get(STEPS))
    known = [column.astype(np.int64) for column in steps if column is not None]
    complete = tuple(known) if len(known) == len(steps) else None
    return Trajectories(tuple(positions), tuple(rules), tuple(safes), complete)


def _of_recordings(directory: Path) -> Trajectories:
    from rulesafe_data.attempt_recording import RecordedAttempt, read_facts
    from rulesafe_data.demo_folder import DemoFolder

    folder = DemoFolder(directory)
    request = folder.content()
    positions, rules, safes, steps = [], [], [], []
    for rule, attempt in folder.episodes(request["rules"], request["episodes"]):
        path = folder.file(rule, attempt, success=True)
        columns = read_columns(path, ["time", "robot_positions", STEPS])
        recording = RecordedAttempt(read_facts(path), columns)
        positions.append(np.ascontiguousarray(recording.joint_positions()[:, ACTION_INDICES]))
        rules.append(rule)
        safes.append(str(recording.facts["safe"]))
        # A dataset has no frame for the state after the last action.
        steps.append(columns[STEPS][:-1].astype(np.int64))
    return Trajectories(tuple(positions), tuple(rules), tuple(safes), tuple(steps))
