"""Memories of keyframes, and the inputs of memories."""

from pathlib import Path

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.states import load_states
from rulesafe_reader.memory import INDEX_FINGER
from rulesafe_studies.controls import PastActions
from rulesafe_studies.keyframes import GraspKeyframes, GraspTokens, OraclePhases, TokenKeyframes
from vq_memory_node.grids import FromStart
from vq_memory_node.memory import (
    WIDTHS,
    MemoryShape,
    RawMemory,
    VqMemory,
    make_memory,
    memory_from,
    past_actions,
)
from vq_memory_node.rolling import RollingMemory, readings_of

DEMONSTRATIONS = Path(__file__).parents[2] / "datasets/rule_001_rule_020.parquet"
PATH = "rulesafe_studies.keyframes:"
OF_POSITIONS = ["GraspKeyframes", "GraspTokens", "TokenKeyframes"]


@pytest.fixture(scope="module")
def recorded():
    """Joint positions of a demonstration of rule_020: seven grasps, then the door."""
    states = load_states(DEMONSTRATIONS)
    positions, _ = states[states.rules.index("rule_020")]
    return positions


@pytest.mark.parametrize("name", [*OF_POSITIONS, "OraclePhases"])
def test_a_memory_comes_back_from_its_description(name):
    memory = make_memory(PATH + name, length=6)
    described = memory.describe()
    assert memory_from(described) == memory and memory.shape.length == 6
    assert ("hash" in described) == ("Token" in name)
    assert described.get("privileged", False) == memory.privileged == (name == "OraclePhases")


@pytest.mark.parametrize("length", [3, 40])
@pytest.mark.parametrize("name", OF_POSITIONS)
def test_live_and_stored_episodes_have_the_same_readings(name, length, recorded):
    memory = make_memory(PATH + name, length=length)
    readings, rolling = readings_of(recorded, memory), RollingMemory(memory)
    counts = []
    for _ in range(2):  # an earlier episode leaves nothing
        rolling.reset()
        counts.append(0)
        for frame, position in enumerate(recorded):
            counts[-1] += rolling.push(position)
            assert np.array_equal(rolling.read().values, readings.values[frame])
            assert np.array_equal(rolling.read().mask, readings.mask[frame])
    assert counts == [len(memory.keyframes(recorded))] * 2
    assert not readings.mask[0].any() and readings.mask[-1].sum() == min(length, counts[0])


def test_a_grasp_keyframe_has_the_posture_of_the_release(recorded):
    memory = GraspKeyframes(3)
    frames = memory.keyframes(recorded)
    assert len(frames) == 7, "one for each part that was turned; the door is not released"
    fingers = recorded[:, INDEX_FINGER]
    assert (fingers[frames] <= 0.5).all() and (fingers[frames - 1] > 0.5).all()
    readings = readings_of(recorded, memory)
    for number, frame in enumerate(frames[2:], 3):
        assert np.array_equal(readings[frame].values, recorded[frames[number - 3 : number]])
        older = readings[frame - 1].values
        assert np.array_equal(older[1:], recorded[frames[number - 3 : number - 1]])
    assert memory.shape == MemoryShape("raw", 3)


def test_a_grasp_token_is_that_of_the_window_that_ends_with_the_release(recorded):
    memory, tokens = GraspTokens(length=7), VqMemory("all_rules", clusters=256)
    expected = tokens.values_at(recorded, memory.keyframes(recorded))
    assert readings_of(recorded, memory)[len(recorded) - 1].values.tolist() == expected.tolist()
    assert len(np.unique(expected)) > 1 and memory.shape == MemoryShape("tokens", 7, 256)


def test_token_keyframes_are_the_changes_of_the_token(recorded):
    tokens = VqMemory("all_rules_hand").values_at(recorded, np.arange(len(recorded)))
    changes = np.flatnonzero(np.diff(tokens)) + 1
    memory = TokenKeyframes(length=5)
    assert memory.keyframes(recorded).tolist() == changes.tolist() and len(changes) > 5
    last = readings_of(recorded, memory)[len(recorded) - 1].values
    assert np.array_equal(last, recorded[changes[-5:]])


def test_oracle_phases_are_those_after_each_change():
    phases = np.zeros((30, 3), np.float32)
    phases[5:12, 0] = 1  # the knob is opened, then closed
    phases[8:, 1] = 1  # the handle
    phases[12:, 2] = 1  # the door, in the frame in which the knob is closed
    readings = readings_of(phases, OraclePhases(4))
    assert readings.values[4:6].tolist() == [[0, 0, 0, 0], [0, 0, 0, 1]]
    assert readings.values[29].tolist() == [0, 1, 3, 6]
    assert readings.mask[[4, 5, 8, 29]].sum(1).tolist() == [0, 1, 2, 3]
    rolling = RollingMemory(OraclePhases(4))
    for frame, row in enumerate(phases):
        rolling.push(row)
        assert np.array_equal(rolling.read().values, readings.values[frame])


def test_a_grid_counts_keyframes():
    phases = (np.arange(30)[:, None] // 3 % 2 * np.ones(3)).astype(np.float32)
    memory, grid = OraclePhases(2), FromStart(4, 2)
    readings, rolling = readings_of(phases, memory, grid), RollingMemory(memory, grid)
    for frame, row in enumerate(phases):
        rolling.push(row)
        assert np.array_equal(rolling.read().values, readings.values[frame])
        assert np.array_equal(rolling.read().mask, readings.mask[frame])
    assert readings.mask.sum(1)[[2, 3, 14, 15]].tolist() == [0, 1, 1, 2]


def test_an_episode_without_keyframes_leaves_the_memory_empty():
    readings = readings_of(np.zeros((5, 3), np.float32), OraclePhases(4))
    assert readings.values.shape == (5, 4) and not readings.mask.any()


def test_past_actions_are_those_of_the_frames_before():
    positions = np.arange(4 * 13, dtype=np.float32).reshape(4, 13)
    found = past_actions(positions, positions + 100)
    assert np.array_equal(found, np.concatenate([positions[:1], positions[:3] + 100]))
    assert PastActions(2).shape == RawMemory(2).shape
    assert memory_from(PastActions(2).describe()) == PastActions(2)


def test_another_input_is_refused():
    assert WIDTHS == {"positions": 13, "actions": 13, "phases": 3}
    with pytest.raises(RuleSafeError, match=r"phases are \(N, 3\), got \(5, 13\)"):
        readings_of(np.zeros((5, 13), np.float32), OraclePhases())
