"""The inputs of memories in the demonstrations of a dataset."""

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.layout import ACTION, STATE
from rulesafe_data.store import EpisodeStore
from vq_memory_node.memory import Input, past_actions

PHASES = "part_open"
"""Privileged column (N, 3), bool: whether knob, handle and door are open."""


def memory_input(store: EpisodeStore, episode: int, kind: Input) -> NDArray[np.float32]:
    """Return the input of a memory at all frames of an episode: (N, 13), rad, or phases (N, 3).

    Raises:
        RuleSafeError: the input is privileged, and the dataset does not have it.
    """
    if kind == "phases":
        columns = store.privileged.frames(episode)
        if PHASES not in columns:
            raise RuleSafeError(
                f"{store.root} has no {PHASES} in the folder privileged, the input of the memory"
            )
        return np.ascontiguousarray(columns[PHASES], np.float32)
    found = store.episode(episode, [STATE, ACTION])
    positions = np.ascontiguousarray(found[STATE], np.float32)
    if kind == "positions":
        return positions
    return past_actions(positions, np.ascontiguousarray(found[ACTION], np.float32))
