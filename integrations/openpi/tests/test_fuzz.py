"""Random and hostile messages of a policy server."""

from pathlib import Path

import numpy as np
from fuzzing import Target, attack

from rulesafe_openpi.wire import decode as decode_message
from rulesafe_openpi.wire import encode as encode_message


def test_a_message_is_read_or_refused(tmp_path_factory, work):
    attack(remote(tmp_path_factory.mktemp("fuzz")), work)


def remote(folder: Path) -> Target:
    path = folder / "message"
    path.write_bytes(encode_message({"actions": np.zeros((2, 13)), "value": np.float32(1)}))
    return Target(path, lambda: decode_message(path.read_bytes()))
