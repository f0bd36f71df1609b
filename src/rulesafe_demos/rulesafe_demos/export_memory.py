"""Memory tokens of exported datasets: those that a policy with the same memory receives at the same
frame of an episode."""

import numpy as np
from numpy.typing import NDArray

from rulesafe_data.export_v2 import ExportedMemory
from vq_memory_node.memory import make_memory
from vq_memory_node.model_files import load_model
from vq_memory_node.rolling import readings_of


def exported_memory(
    model: str, clusters: int | None = None, length: int | None = None
) -> ExportedMemory:
    """Return the memory of a model for `rulesafe_data.export_v2.export`.

    Args:
        model: name or folder of a memory model.
        clusters: J, number of different tokens; None: the default of the memory.
        length: M, number of tokens per frame, 2 s apart; None: the default of the memory.

    Raises:
        RuleSafeError: the model is missing or damaged, or a setting is not valid.
    """
    kind = load_model(model).architecture.kind
    memory = make_memory(kind, model=model, clusters=clusters, length=length)

    def read(positions: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        readings = readings_of(positions, memory)
        return readings.values, readings.mask

    return ExportedMemory(memory.length, memory.describe(), read)
