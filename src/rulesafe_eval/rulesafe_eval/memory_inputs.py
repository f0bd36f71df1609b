"""The inputs of memories in a running simulation."""

import numpy as np
from numpy.typing import NDArray

from rulesafe_locks.rules import PARTS
from rulesafe_sim.simulation import Simulation
from vq_memory_node.memory import Input


def observed_input(
    simulation: Simulation, kind: Input, action: NDArray | None
) -> NDArray[np.float32]:
    """Return the input of a memory at the current frame: (13,), rad, or phases (3,).

    Args:
        simulation: the simulation.
        kind: one of `vq_memory_node.memory.WIDTHS`.
        action: the last executed action (13,), rad; None at the first frame.
    """
    state = simulation.state()
    if kind == "phases":
        return np.array([state.part_open[part] for part in PARTS], np.float32)
    if kind == "actions" and action is not None:
        return action.astype(np.float32)
    return state.action_positions.astype(np.float32)
