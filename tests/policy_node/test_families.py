import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")
pytest.importorskip("transformers")

from policy_node.checkpoints import load_policy
from policy_node.configs import TrainConfig
from policy_node.families import FAMILIES, find_config
from policy_node.history import History
from policy_node.policy import CAMERAS
from policy_node.training import Task, train
from rulesafe_data.store import EpisodeStore
from rulesafe_sim.joints import ACTION_JOINTS, ALL_JOINTS
from vq_memory_node.memory import memory_of

ACTED = [ALL_JOINTS.index(joint) for joint in ACTION_JOINTS]
PICTURE_FAMILIES = [name for name in FAMILIES if find_config(name, "tiny").images]


@pytest.mark.parametrize("family", PICTURE_FAMILIES)
def test_a_family_that_sees_pictures_is_trained_saved_and_asked(
    family, demos, cache, memories, tmp_path
):
    task = Task(family, "tiny", find_config(family, "tiny"), memories["vq"], demos, None, cache)
    train(task, TrainConfig(steps=2, batch=2, warm_up=1), tmp_path)
    policy = load_policy(tmp_path)
    assert policy.needs.images and policy.needs.instruction and policy.needs.memory
    episode = EpisodeStore(demos).episode(0)
    joints = episode["observation.state"][:, ACTED]
    history = History(policy.needs)
    pictures = {camera: episode[f"observation.images.{camera}"][45] for camera in CAMERAS}
    history.push(45, joints[45], images=pictures)
    reading = memory_of(joints, policy.memory.build())[45]

    def chunk(instruction):
        policy.reset()
        return policy.infer(history.observation(45, instruction, reading))

    told = chunk("turn the knob")
    assert told.shape == (50, 13)
    np.testing.assert_array_equal(told, chunk("turn the knob"))
    assert not np.array_equal(told, chunk("pull the door"))
