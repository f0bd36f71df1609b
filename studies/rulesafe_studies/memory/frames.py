"""Frames of episodes with the inputs and labels of a probe: joints, memory, rule, step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from vq_memory_node.memory import Memory
from vq_memory_node.rolling import readings_of
from vq_memory_node.trajectories import Trajectories


@dataclass(frozen=True)
class LabelledFrames:
    """F frames with the inputs and labels of a probe.

    Attributes:
        rule_one_hot: (F, R) float32, one of R rules; a policy gets it from the instruction.
        joints: (F, 13) float32, rad.
        raw: (F, M, 13) float32 past positions, rad; (F, 0, 13) without a raw memory.
        tokens: (F, M) int64 past tokens; (F, 0) without a token memory.
        mask: (F, M) True where the memory is observed.
        steps: (F,) int64, the label: the index of the rule times STEPS plus the steps done.
        episodes: (F,) int64, the episode of each frame.
    """

    rule_one_hot: NDArray[np.float32]
    joints: NDArray[np.float32]
    raw: NDArray[np.float32]
    tokens: NDArray[np.int64]
    mask: NDArray[np.bool_]
    steps: NDArray[np.int64]
    episodes: NDArray[np.int64]

    def of(self, episodes: Sequence[int] | NDArray[np.int64]) -> "LabelledFrames":
        """Return the frames of these episodes."""
        rows = np.isin(self.episodes, episodes)
        return LabelledFrames(**{name: column[rows] for name, column in vars(self).items()})

    def raw_mask(self) -> NDArray[np.bool_]:
        """Return the mask of `raw`: `mask`, or (F, 0) without a raw memory."""
        return self.mask[:, : self.raw.shape[1]]


STEPS = 100
"""Number of labels per rule; more than the steps of any plan, so that labels of rules differ."""


def frames_of(
    trajectories: Trajectories, memory: Memory, rules: Sequence[str], every: int = 5
) -> LabelledFrames:
    """Return every N-th frame of the episodes, with the memory's readings.

    Args:
        trajectories: episodes of these rules, with steps.
        memory: memory that the probe receives besides the joints.
        rules: rule IDs in the order of the columns of `rule_one_hot`.
        every: N; neighbouring frames are nearly identical.

    Raises:
        RuleSafeError: the trajectories have no steps.
    """
    if trajectories.steps is None:
        raise RuleSafeError(
            "the episodes have no steps; valid: a dataset or a folder of `rulesafe demos "
            "generate`, but no .parquet file of `rulesafe demos export`"
        )
    columns: dict[str, list[NDArray]] = {name: [] for name in LabelledFrames.__annotations__}
    for episode, q in enumerate(trajectories.positions):
        rows = slice(None, None, every)
        number = rules.index(trajectories.rules[episode])
        readings = readings_of(q, memory)
        values, mask = readings.values[rows], readings.mask[rows]
        count = len(mask)
        raw = memory.shape.kind == "raw"
        found = {
            "rule_one_hot": np.tile(np.eye(len(rules), dtype=np.float32)[number], (count, 1)),
            "joints": q[rows],
            "raw": values if raw else np.zeros((count, 0, q.shape[1]), np.float32),
            "tokens": np.zeros((count, 0), np.int64) if raw else values,
            "mask": mask,
            "steps": number * STEPS + trajectories.steps[episode][rows],
            "episodes": np.full(count, episode),
        }
        for name, column in found.items():
            columns[name].append(column)
    return LabelledFrames(**{name: np.concatenate(parts) for name, parts in columns.items()})
