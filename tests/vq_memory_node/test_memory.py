"""A memory fed frame by frame is the memory of the stored episode, on either grid."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data.states import load_states
from vq_memory_node.grids import FromStart, Sliding, ends_of, make_grid
from vq_memory_node.memory import NoMemory, RawMemory, VqMemory, memory_of, tokens_of
from vq_memory_node.tokenizers import load_tokenizer
from vq_memory_node.windows import LENGTH, STRIDE, WINDOW, window_at

GRIDS = (Sliding(), FromStart())
STATES = Path(__file__).parents[2] / "datasets/rule_001_rule_020.parquet"


class Sum:
    """A tokenizer that tells windows apart by their bytes, and counts how often it is asked."""

    joints, window, vocabulary, hash = ACTION_JOINTS, WINDOW, 2**31, "sum"

    def __init__(self) -> None:
        self.asked = 0

    def token(self, window):
        assert window.shape == (WINDOW, 13) and window.dtype == np.float32
        assert window.flags.c_contiguous
        self.asked += 1
        weights = np.arange(1, window.size + 1, dtype=np.int64)
        return int(window.view(np.int32).astype(np.int64).ravel() @ weights % self.vocabulary)


def walk(length: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(0, 0.02, (length, 13)), axis=0).astype(np.float32)


def streamed(positions, memory):
    """What a memory tells after each frame."""
    for position in positions:
        memory.push(position)
        yield memory.read()


@settings(max_examples=30)
@given(st.integers(1, 1000), st.sampled_from(GRIDS), st.integers(0, 2**32 - 1))
def test_streaming_equals_the_batch(length, grid, seed):
    positions = walk(length, seed)
    for memory in (VqMemory(Sum(), grid), RawMemory(grid), NoMemory()):
        batch = memory_of(positions, memory)
        assert len(batch) == length
        for frame, reading in enumerate(streamed(positions, memory)):
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
    positions, memory = walk(frames), RawMemory(kind(stride, length))
    batch = memory_of(positions, memory)
    for frame, reading in enumerate(streamed(positions, memory)):
        assert np.array_equal(reading.values, batch[frame].values)
        assert np.array_equal(reading.mask, batch[frame].mask)


@pytest.mark.parametrize("grid", GRIDS)
def test_a_reading_is_the_tokens_of_the_windows_of_the_definition(grid):
    """Written out: window for window, by `window_at`."""
    positions, tokenizer = walk(900), Sum()
    readings = memory_of(positions, VqMemory(tokenizer, grid))
    for now in (0, 1, 19, 20, 49, 379, 780, 781, 899):
        newest = now if isinstance(grid, Sliding) else now // STRIDE * STRIDE
        ends = [newest - STRIDE * i for i in range(LENGTH)][::-1]
        expected = [tokenizer.token(window_at(positions, e)) if e >= 0 else 0 for e in ends]
        assert readings[now].values.tolist() == expected
        assert readings[now].mask.tolist() == [end >= 0 for end in ends]


def test_a_sliding_reading_is_an_index_into_the_tokens_of_the_episode():
    positions, tokenizer = walk(850), Sum()
    tokens = tokens_of(positions, tokenizer)
    readings = memory_of(positions, VqMemory(tokenizer))
    ends = ends_of(np.arange(850), Sliding())
    assert np.array_equal(readings.values, np.where(ends >= 0, tokens[ends], 0))


@pytest.mark.parametrize(("grid", "expected"), [(Sliding(), 300), (FromStart(), 15)])
def test_each_window_is_tokenised_once(grid, expected):
    positions, tokenizer = walk(300), Sum()
    memory = VqMemory(tokenizer, grid)
    new = sum([memory.push(position) for position in positions])
    for _ in range(3):
        memory.read()
    assert new == tokenizer.asked == expected
    memory_of(positions, memory)
    assert tokenizer.asked == 2 * expected


def test_reset_forgets_everything():
    positions, memory = walk(500), VqMemory(Sum())
    for position in walk(900, seed=1):
        memory.push(position)
    memory.reset()
    assert not memory.read().mask.any() and not memory.read().values.any()
    batch = memory_of(positions, memory)
    for frame, reading in enumerate(streamed(positions, memory)):
        assert np.array_equal(reading.values, batch[frame].values)


def test_the_batch_leaves_the_stream_as_it_is_and_a_reading_is_a_copy():
    memory = RawMemory()
    memory.push(np.ones(13, np.float32))
    before = memory.read()
    memory_of(walk(60), memory)
    for _ in range(2000):
        memory.push(np.zeros(13, np.float32))
    assert np.array_equal(before.values[-1], np.ones(13)) and before.mask.sum() == 1


def test_a_frame_that_is_none_is_refused_and_leaves_no_trace():
    memory = VqMemory(Sum())
    for bad in (np.full(13, np.nan), np.zeros(12), np.zeros((1, 13))):
        with pytest.raises(RuleSafeError, match="13 finite joint positions"):
            memory.push(bad)
    assert not memory.read().mask.any()
    with pytest.raises(RuleSafeError, match=r"\(N, 13\) joint positions, got \(5, 7\)"):
        memory_of(np.zeros((5, 7), np.float32), memory)
    with pytest.raises(RuleSafeError, match="finite"):
        tokens_of(np.full((5, 13), np.inf, np.float32), Sum())


def test_an_empty_episode_has_no_readings():
    batch = memory_of(np.zeros((0, 13), np.float32), VqMemory(Sum()))
    assert batch.values.shape == batch.mask.shape == (0, LENGTH)


def test_names_of_grids_and_joints():
    assert make_grid("from_start") == FromStart()
    with pytest.raises(RuleSafeError, match=r"unknown grid 'end'; valid: sliding, from_start"):
        make_grid("end")
    with pytest.raises(RuleSafeError, match="stride of 1 frame or more"):
        Sliding(stride=0)
    other = Sum()
    other.joints = ("left_elbow_joint",)
    with pytest.raises(RuleSafeError, match="other joints: left_elbow_joint; expected: right_sh"):
        VqMemory(other)


@pytest.mark.parametrize("grid", GRIDS)
def test_streaming_equals_the_batch_on_fifty_stored_episodes(model_dir, grid):
    """With a real encoder, whose arithmetic could depend on how windows are fed."""
    states = load_states(STATES)
    memory = VqMemory(load_tokenizer(model_dir), grid)
    for episode in range(0, len(states), 4):
        positions, _ = states[episode]
        batch = memory_of(positions, memory)
        memory.reset()
        for frame, reading in enumerate(streamed(positions, memory)):
            assert np.array_equal(reading.values, batch.values[frame])
            assert np.array_equal(reading.mask, batch.mask[frame])
