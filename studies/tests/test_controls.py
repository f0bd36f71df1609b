"""Memories for comparison."""

from pathlib import Path

import numpy as np
import pytest

from rulesafe_data.states import load_states
from rulesafe_studies.controls import (
    ELBOW,
    INDEX_FINGER,
    ElapsedTime,
    GraspBit,
    QuantisedJoints,
    RandomClusters,
    StepCounter,
)
from vq_memory_node.memory import VqMemory, make_memory, memory_from
from vq_memory_node.rolling import readings_of

DEMONSTRATIONS = Path(__file__).parents[2] / "datasets/rule_001_rule_020.parquet"
PATH = "rulesafe_studies.controls:"


@pytest.fixture
def episode():
    """An episode (120, 13) with a pinch in the frames 50 to 79."""
    positions = np.zeros((120, 13), np.float32)
    positions[:, INDEX_FINGER] = 0.4
    positions[50:80, INDEX_FINGER] = 0.6
    return positions


@pytest.mark.parametrize(
    "name", ["ElapsedTime", "GraspBit", "StepCounter", "QuantisedJoints", "RandomClusters"]
)
def test_a_memory_comes_back_from_its_description(name):
    memory = make_memory(PATH + name, length=6)
    assert memory_from(memory.describe()) == memory
    assert memory.shape.kind == "tokens" and memory.shape.length == 6


def test_elapsed_time_contains_the_time_only(episode):
    readings = readings_of(episode, ElapsedTime(6))
    assert not readings.values.any()
    np.testing.assert_array_equal(readings.mask.sum(1), np.minimum(np.arange(120) // 20 + 1, 6))


def test_a_grasp_bit_is_set_while_the_index_finger_is_bent(episode):
    readings = readings_of(episode, GraspBit(6))
    assert readings.values[119].tolist() == [0, 0, 1, 1, 0, 0]  # frames 19, 39, ... 119
    assert readings.values[100].tolist() == [0, 0, 0, 1, 0, 0]  # frames 0, 20, ... 100
    assert not readings_of(episode, GraspBit(6, threshold=0.7)).values.any()


def test_the_step_counter_counts_grasps_and_not_their_duration(episode):
    episode[100:105, INDEX_FINGER] = 0.6
    readings = readings_of(episode, StepCounter())
    assert readings.values[[0, 49, 50, 79, 99, 100, 119], 0].tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert readings.mask.all(), "it knows the whole episode at once"
    assert readings_of(episode, StepCounter(most=1)).values[119, 0] == 1


def test_quantised_joints_have_two_bits(episode):
    episode[:60, ELBOW] = 1.5
    readings = readings_of(episode, QuantisedJoints(6))
    assert readings.values[119].tolist() == [1, 1, 3, 2, 0, 0]  # frames 19, 39, ... 119
    assert QuantisedJoints().shape.vocabulary == 4


def test_random_clusters_merge_the_codes_of_the_model():
    recorded, _ = load_states(DEMONSTRATIONS)[150]

    def tokens(memory):
        readings = readings_of(recorded, memory)
        return readings.values[readings.mask]

    codes = tokens(VqMemory("all_rules_hand", 256, 20))
    first, second = (tokens(RandomClusters(length=20, seed=seed)) for seed in (0, 1))
    for code in np.unique(codes):
        assert len(np.unique(first[codes == code])) == 1
    assert not np.array_equal(first, second) and first.max() < 4
    assert len(np.unique(codes)) > 4
