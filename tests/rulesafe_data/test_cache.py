"""Arrays that are computed once: several processes, interruptions, other sources."""

import multiprocessing

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.cache import cached

SOURCE = {"dataset": "a"}
ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)


def blocks(count=2):
    for block in range(count):
        yield ROWS[3 * block : 3 * block + 3]


def interrupted():
    yield ROWS[:3]
    raise KeyboardInterrupt


def test_an_array_is_computed_once(tmp_path):
    path, computed = tmp_path / "new/array.npy", []
    for _ in range(2):
        found = cached(path, {"a": [1]}, 6, lambda: computed.append(0) or blocks())
        assert np.array_equal(found, ROWS) and found.dtype == np.float32
        assert isinstance(found, np.memmap)
    assert len(computed) == 1


def test_an_interrupted_or_removed_array_is_computed_again(tmp_path):
    path = tmp_path / "array.npy"
    with pytest.raises(KeyboardInterrupt):
        cached(path, SOURCE, 6, interrupted)
    assert [file.name for file in tmp_path.iterdir()] == [".lock"]
    for _ in range(2):
        assert np.array_equal(cached(path, SOURCE, 6, blocks), ROWS)
        path.unlink()


def test_another_source_is_refused(tmp_path):
    cached(tmp_path / "array.npy", SOURCE, 6, blocks)
    with pytest.raises(RuleSafeError, match=r"array.npy was computed from other or changed data"):
        cached(tmp_path / "array.npy", {"dataset": "b"}, 6, blocks)


def _compute(path, computed):
    def slow():
        computed.put(0)
        yield from blocks()

    cached(path, SOURCE, 6, slow)


def test_other_processes_wait(tmp_path):
    context = multiprocessing.get_context("fork")
    computed = context.Queue()
    arguments = tmp_path / "array.npy", computed
    children = [context.Process(target=_compute, args=arguments) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0]
    assert computed.get(timeout=60) == 0 and computed.empty()
    assert np.array_equal(cached(tmp_path / "array.npy", SOURCE, 6, blocks), ROWS)
