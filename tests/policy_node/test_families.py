import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from policy_node.checkpoints import read_policy
from policy_node.families import find_config
from policy_node.history import ObservationHistory
from policy_node.network_policy import load_policy
from policy_node.train_config import TrainConfig
from policy_node.training import TrainingTask, train
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_data.store import EpisodeStore
from vq_memory_node.rolling import readings_of

CAMERAS = DEFAULT_CAMERAS.names

ACTION_INDICES = [ALL_JOINTS.index(joint) for joint in ACTION_JOINTS]
READERS = ("rdt", "cogact", "pi0")


@pytest.mark.parametrize("size", ["tiny", "images"])
@pytest.mark.parametrize("family", READERS)
@pytest.mark.train
def test_a_family_that_reads_is_trained_saved_and_asked(
    family, size, demos, cache, memories, tmp_path
):
    """A tiny network receives only point clouds, `images` only images."""
    task = TrainingTask(family, size, find_config(family, size), memories["vq"], demos, None, cache)
    train(task, TrainConfig(steps=2, batch=2, warm_up=1), tmp_path)
    policy = load_policy(tmp_path)
    assert policy.needs.instruction and policy.needs.memory
    assert bool(policy.needs.points) == (size != "images")
    assert policy.needs.images == (size != "tiny")
    episode = EpisodeStore(demos).episode(0)
    joints = episode["observation.state"]
    history = ObservationHistory(policy.needs)
    pictures = {camera: episode[f"observation.images.{camera}"][45] for camera in CAMERAS}
    history.push(45, joints[45], episode["observation.points"][45], pictures)
    reading = readings_of(joints, policy.memory)[45]

    def chunk(instruction):
        policy.reset()
        return policy.infer(history.observation(45, instruction, reading))

    first_chunk = chunk("turn the knob")
    assert first_chunk.shape == (50, 13)
    np.testing.assert_array_equal(first_chunk, chunk("turn the knob"))
    assert not np.array_equal(first_chunk, chunk("pull the door"))


@pytest.mark.parametrize(("family", "batch"), [("dp3", 64), ("rdt", 16)])
def test_a_batch_is_the_familys_own_unless_it_is_set(
    family, batch, demos, cache, memories, tmp_path
):
    task = TrainingTask(
        family, "tiny", find_config(family, "tiny"), memories["none"], demos, None, cache
    )
    for settings, expected in (({}, batch), ({"batch": 3}, 3)):
        out = tmp_path / str(expected)
        train(task, TrainConfig(steps=1, **settings), out)
        assert read_policy(out).training["facts"]["config"]["batch"] == expected
