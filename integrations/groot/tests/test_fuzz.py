"""Random and hostile answers of a GR00T server."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fuzzing import Target, attack

from rulesafe_groot.client import read_chunk, read_content, read_modalities
from rulesafe_groot.dataset import PARTS
from rulesafe_openpi.wire import Form, msgpack_numpy, npy
from rulesafe_openpi.wire import encode as encode_message


def groot_answer(form: Form) -> Callable[[Path], Target]:
    def make(folder: Path) -> Target:
        path = folder / "answer"
        actions = {"right_arm": np.zeros((1, 2, 7)), "right_hand": np.zeros((1, 2, 6))}
        path.write_bytes(encode_message([actions, {}], form))
        return Target(path, lambda: read_chunk(read_content(path.read_bytes()), PARTS))

    return make


def groot_configuration(folder: Path) -> Target:
    path = folder / "configuration"
    modality = {"modality_keys": ["front"], "delta_indices": [-1, 0]}
    marked = {"__ModalityConfig__": True, "as_json": modality}
    path.write_bytes(encode_message({"video": marked, "state": marked}))
    return Target(path, lambda: read_modalities(read_content(path.read_bytes())))


TARGETS = {
    "N1.6": groot_answer(npy),
    "N1.7": groot_answer(msgpack_numpy),
    "configuration": groot_configuration,
}


@pytest.mark.parametrize("name", TARGETS)
def test_an_answer_is_read_or_refused(name, tmp_path_factory, work):
    attack(TARGETS[name](tmp_path_factory.mktemp("fuzz")), work)
