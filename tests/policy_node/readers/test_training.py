"""Training of each family on demonstrations with images and instructions."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("tensorboardX")

from policy_node.checkpoints import ARRAY_FILE, read_policy
from policy_node.network_policy import load_policy
from policy_node.policy import Observation
from policy_node.train_config import TrainConfig
from policy_node.training import TrainingTask, train
from vq_memory_node.memory import Reading


class Stop(Exception):
    """Raised by a test to interrupt a training run."""


def stop_at(step):
    def watch(progress):
        if progress.step == step:
            raise Stop

    return watch


@pytest.mark.parametrize("family", ["rdt", "cogact", "pi0"])
@pytest.mark.train
def test_a_run_resumes_to_the_same_weights_and_its_policy_acts(
    family, small_readers, demos, cache, memories, tmp_path
):
    config = small_readers[family][1]
    task = TrainingTask(family, "tiny", config, memories["vq"], demos, None, cache)
    settings = TrainConfig(steps=6, batch=4, warm_up=2, checkpoint_every=2)
    whole = train(task, settings, tmp_path / "whole")
    with pytest.raises(Stop):
        train(task, settings, tmp_path / "resumed", stop_at(5))
    resumed = train(task, settings, tmp_path / "resumed")
    assert (resumed / ARRAY_FILE).read_bytes() == (whole / ARRAY_FILE).read_bytes()
    assert read_policy(whole).config == config

    policy = load_policy(whole)
    needs = policy.needs
    assert (needs.frames, needs.points) == (1, 0)
    assert needs.images and needs.instruction and needs.memory
    rng = np.random.default_rng(0)
    observation = Observation(
        joints=rng.normal(size=(1, 13)).astype(np.float32),
        images={name: rng.integers(0, 256, (32, 32, 3), np.uint8) for name in ("head", "front")},
        instruction="turn the knob",
        memory=Reading(np.zeros(6, np.int64), np.zeros(6, np.bool_)),
    )
    chunks = []
    for _ in range(2):
        policy.reset()
        chunks.append(policy.infer(observation))
    assert chunks[0].shape == (50, 13) and np.array_equal(*chunks)
