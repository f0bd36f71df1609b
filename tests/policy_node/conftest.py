"""Fixtures: a small dataset with point clouds and images, a small network, and memories."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from policy_node.configs import Dp3Config
from rulesafe_core.versions import PHYSICS, RENDERER
from rulesafe_data.layout import MISS
from rulesafe_data.writer import DatasetWriter, EpisodeData, Frame
from rulesafe_reader.memory import INDEX_FINGER
from rulesafe_studies.controls import PastActions, RobotFrameJoints
from rulesafe_studies.keyframes import GraspKeyframes, OraclePhases
from vq_memory_node.memory import NoMemory, RawMemory, VqMemory

LENGTHS = (70, 55, 90)
INSTRUCTIONS = ("turn the knob", "pull the door", "turn the knob")
POINTS = 256

SMALL = Dp3Config(
    encoder=None,
    points=32,
    pointnet=(16, 32),
    cloud_features=16,
    state=(16,),
    memory_channels=(8, 8, 8),
    memory_features=16,
    channels=(16, 32, 32),
    groups=4,
    step_features=16,
    train_steps=20,
    sample_steps=5,
)


@pytest.fixture(autouse=True)
def one_thread():
    """Use one torch thread, which is fastest for small networks."""
    try:
        import torch
    except ModuleNotFoundError:
        return
    torch.set_num_threads(1)


def labelled_subtasks(length):
    """Return the subtasks (length,) of an episode of the dataset `labelled`."""
    return np.repeat([2, 0, 4], [length // 3, length // 3, length - 2 * (length // 3)])


def _episode(index):
    rng = np.random.default_rng(index)
    length = LENGTHS[index]
    steps = np.cumsum(rng.normal(0, 0.02, (length + 1, 39)), axis=0)
    path = np.cumsum(steps * 0.1, axis=0)
    path[:, 20 + INDEX_FINGER] = 0.5 + 0.3 * np.sin(np.arange(length + 1) / 4)  # several grasps
    frames = [
        Frame(
            {camera: rng.integers(0, 256, (32, 32, 3), np.uint8) for camera in ("head", "front")},
            np.hstack([rng.normal(size=(POINTS, 3)), rng.random((POINTS, 3))]).astype(np.float32),
        )
        for _ in range(length)
    ]
    return EpisodeData(
        task=INSTRUCTIONS[index],
        joint_positions=path[:-1],
        joint_velocities=np.gradient(path[:-1], 0.1, axis=0),
        actions=path[1:, 20:33],
        frames=iter(frames),
        privileged={
            "step": np.arange(length) // 10,
            "part_open": np.arange(length)[:, None] // (11, 23, 60) % 2 == 1,
        },
        facts={"rule": f"rule_{index:03d}", "seed": index},
    )


def _write(root, **changes):
    writer = DatasetWriter(root, versions={"physics": PHYSICS, "renderer": RENDERER})
    for index, length in enumerate(LENGTHS):
        made = {name: make(length) for name, make in changes.items()}
        writer.write(index, replace(_episode(index), **made))
    writer.finish()
    return root


@pytest.fixture(scope="package")
def demos(tmp_path_factory):
    """Return a complete dataset of three short episodes; tests must not change it."""
    return _write(tmp_path_factory.mktemp("policy") / "demos")


@pytest.fixture(scope="package")
def labelled(tmp_path_factory):
    """Return the dataset of `demos` with subtasks."""
    return _write(tmp_path_factory.mktemp("policy") / "labelled", subtasks=labelled_subtasks)


@pytest.fixture(scope="package")
def missing(tmp_path_factory):
    """Return the dataset of `demos` with a deliberate miss in the frames 10 to 14 of each
    episode."""

    def subtasks(length):
        return np.repeat([2, MISS, 4], [10, 5, length - 15])

    return _write(tmp_path_factory.mktemp("policy") / "missing", subtasks=subtasks)


@pytest.fixture(scope="package")
def cache(tmp_path_factory):
    """Return the cache folder for decoded data of `demos`."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="package")
def memories():
    """Return memories of every kind by name, of length 6 where they have a length."""
    return {
        "none": NoMemory(),
        "raw": RawMemory(6),
        "vq": VqMemory("rule_001_rule_020_hand", length=6),
        "actions": PastActions(6),
        "robot_frame": RobotFrameJoints(6),
        "grasps": GraspKeyframes(6),
        "oracle": OraclePhases(6),
    }


@pytest.fixture(scope="session")
def small():
    """Return the configuration of a small DP3."""
    return SMALL


@pytest.fixture(scope="package")
def quick(demos, cache, memories):
    """Return quick(memory, **changes) -> task and settings of a short training run."""
    pytest.importorskip("torch")
    from policy_node.train_config import TrainConfig
    from policy_node.training import TrainingTask

    def make(memory="vq", **changes):
        settings = {"steps": 12, "batch": 4, "warm_up": 3, "checkpoint_every": 4} | changes
        task = TrainingTask("dp3", "tiny", SMALL, memories[memory], demos, None, cache)
        return SimpleNamespace(task=task, config=TrainConfig(**settings))

    return make


@pytest.fixture(scope="package")
def trained(quick, tmp_path_factory):
    """Return the folder of a policy trained briefly with memory vq; tests must not change it."""
    from policy_node.training import train

    run = quick()
    return train(run.task, run.config, tmp_path_factory.mktemp("trained"))
