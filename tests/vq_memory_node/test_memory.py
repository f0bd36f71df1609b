"""A memory of a stream of frames equals that of the stored episode, on both grids."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.states import load_states
from vq_memory_node.grids import FromStart, Sliding, make_grid
from vq_memory_node.memory import Memory, NoMemory, RawMemory, VqMemory
from vq_memory_node.rolling import RollingMemory, readings_of
from vq_memory_node.windows import LENGTH, STRIDE, WINDOW, window_at

GRIDS = (Sliding(), FromStart())
STATES = Path(__file__).parents[2] / "datasets/rule_001_rule_020.parquet"


@dataclass(frozen=True)
class Sum(Memory):
    """Tokens are checksums of the windows; counts the calls."""

    length: int = LENGTH
    calls: list = field(default_factory=list)
    vocabulary, window = 2**31, WINDOW

    def value(self, window):
        assert window.shape == (WINDOW, 13) and window.dtype == np.float32
        assert window.flags.c_contiguous
        self.calls.append(1)
        weights = np.arange(1, window.size + 1, dtype=np.int64)
        return int(window.view(np.int32).astype(np.int64).ravel() @ weights % self.vocabulary)


def walk(length: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(0, 0.02, (length, 13)), axis=0).astype(np.float32)


def streamed(positions, memory, grid=None):
    """Yield the reading after each frame."""
    rolling = RollingMemory(memory, grid)
    for position in positions:
        rolling.push(position)
        yield rolling.read()


@settings(max_examples=30)
@given(st.integers(1, 1000), st.sampled_from(GRIDS), st.integers(0, 2**32 - 1))
def test_streaming_equals_the_batch(length, grid, seed):
    positions = walk(length, seed)
    for memory, its_grid in ((Sum(), grid), (RawMemory(), grid), (NoMemory(), None)):
        batch = readings_of(positions, memory, its_grid)
        assert len(batch) == length
        for frame, reading in enumerate(streamed(positions, memory, its_grid)):
            assert np.array_equal(reading.values, batch[frame].values)
            assert np.array_equal(reading.mask, batch[frame].mask)
            assert reading.values.dtype == batch.values.dtype


@settings(max_examples=50)
@given(
    st.integers(1, 200),
    st.integers(1, 9),
    st.integers(1, 7),
    st.sampled_from([Sliding, FromStart]),
)
def test_any_stride_and_length(frames, stride, length, kind):
    positions, memory, grid = walk(frames), RawMemory(), kind(stride, length)
    batch = readings_of(positions, memory, grid)
    for frame, reading in enumerate(streamed(positions, memory, grid)):
        assert np.array_equal(reading.values, batch[frame].values)
        assert np.array_equal(reading.mask, batch[frame].mask)


@pytest.mark.parametrize("grid", GRIDS)
def test_a_reading_is_the_tokens_of_the_windows_of_the_definition(grid):
    """Computed window by window with `window_at`."""
    positions, memory = walk(900), Sum()
    readings = readings_of(positions, memory, grid)
    for now in (0, 1, 19, 20, 49, 379, 780, 781, 899):
        newest = now if isinstance(grid, Sliding) else now // STRIDE * STRIDE
        ends = [newest - STRIDE * i for i in range(LENGTH)][::-1]
        expected = [memory.value(window_at(positions, e)) if e >= 0 else 0 for e in ends]
        assert readings[now].values.tolist() == expected
        assert readings[now].mask.tolist() == [end >= 0 for end in ends]


@pytest.mark.parametrize(("grid", "expected"), [(Sliding(), 300), (FromStart(), 15)])
def test_each_window_is_tokenised_once(grid, expected):
    positions, memory = walk(300), Sum()
    rolling = RollingMemory(memory, grid)
    new = 0
    for position in positions:
        new += rolling.push(position)
        rolling.read()
        rolling.read()
    assert new == len(memory.calls) == expected
    readings_of(positions, memory, grid)
    assert len(memory.calls) == 2 * expected


def test_windows_that_are_not_read_are_not_tokenised():
    positions, memory = walk(300), Sum()
    rolling, batch = RollingMemory(memory), readings_of(positions, Sum())
    for frame, position in enumerate(positions):
        rolling.push(position)
        if frame % 12 == 0:
            assert np.array_equal(rolling.read().values, batch[frame].values)
    read = {end for frame in range(0, 300, 12) for end in range(frame, -1, -20)}
    assert len(memory.calls) == len(read) < 300 / 3


def test_reset_clears_everything():
    positions, rolling = walk(500), RollingMemory(Sum())
    for position in walk(900, seed=1):
        rolling.push(position)
    rolling.reset()
    assert not rolling.read().mask.any() and not rolling.read().values.any()
    batch = readings_of(positions, rolling.memory)
    for frame, position in enumerate(positions):
        rolling.push(position)
        assert np.array_equal(rolling.read().values, batch[frame].values)


def test_a_reading_is_a_copy():
    rolling = RollingMemory(RawMemory())
    rolling.push(np.ones(13, np.float32))
    before = rolling.read()
    for _ in range(2000):
        rolling.push(np.zeros(13, np.float32))
    assert np.array_equal(before.values[-1], np.ones(13)) and before.mask.sum() == 1


def test_an_invalid_episode_is_rejected():
    with pytest.raises(RuleSafeError, match=r"positions are \(N, 13\), got \(5, 7\)"):
        readings_of(np.zeros((5, 7), np.float32), Sum())
    with pytest.raises(RuleSafeError, match=r"positions are \(N, 13\), got \(5, 13, 1\)"):
        readings_of(np.zeros((5, 13, 1), np.float32), Sum())
    with pytest.raises(RuleSafeError, match="finite"):
        readings_of(np.full((5, 13), np.inf, np.float32), Sum())


def test_an_empty_episode_has_no_readings():
    batch = readings_of(np.zeros((0, 13), np.float32), Sum())
    assert batch.values.shape == batch.mask.shape == (0, LENGTH)


def test_names_of_grids():
    assert make_grid("from_start") == FromStart()
    with pytest.raises(RuleSafeError, match=r"unknown grid 'end'; valid: sliding, from_start"):
        make_grid("end")
    with pytest.raises(RuleSafeError, match="stride of 1 frame or more"):
        Sliding(stride=0)


@pytest.mark.parametrize("grid", GRIDS)
def test_streaming_equals_the_batch_on_fifty_stored_episodes(model_dir, grid):
    """With a real encoder, whose rounding could depend on the memory layout of windows."""
    states = load_states(STATES)
    memory = VqMemory(str(model_dir))
    for episode in range(0, len(states), 4):
        positions, _ = states[episode]
        batch = readings_of(positions, memory, grid)
        for frame, reading in enumerate(streamed(positions, memory, grid)):
            assert np.array_equal(reading.values, batch.values[frame])
            assert np.array_equal(reading.mask, batch.mask[frame])
