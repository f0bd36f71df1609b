"""Models and trajectories for the tests."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.model_files import Architecture, Layer, MemoryModel, save_model
from vq_memory_node.tokenizers import NumpyEncoder
from vq_memory_node.windows import WINDOW, window_at


def _trajectory(frames, rng):
    """(frames, 13) a smooth random walk, rad."""
    steps = np.cumsum(rng.normal(0, 0.02, (frames, len(ACTION_JOINTS))), axis=0)
    return np.cumsum(steps * 0.1, axis=0).astype(np.float32)


def _codebook(architecture, arrays, rng):
    encoder = NumpyEncoder(MemoryModel(architecture, arrays))
    paths = [_trajectory(100, rng) for _ in range(8)]
    frames = rng.integers(0, 100, architecture.codes)
    windows = [window_at(paths[i % 8], frame) for i, frame in enumerate(frames)]
    return np.stack([encoder.latent(window) for window in windows])


def _random_model(out, seed, architecture=None, clusterings=(2, 4, 32)):
    """Save a model with random weights, whose codes are latents of random trajectories."""
    rng = np.random.default_rng(seed)
    architecture = architecture or Architecture()
    joints, codes = len(ACTION_JOINTS), architecture.codes
    arrays = {
        "normaliser.mean": rng.normal(0, 0.1, joints).astype(np.float32),
        "normaliser.std": rng.uniform(0.05, 0.2, joints).astype(np.float32),
        "usage": np.full(codes, 1 / codes, np.float32),
    }

    def linear(name, shape):
        width = 1 / np.sqrt(np.prod(shape[1:]))
        arrays[f"{name}.weight"] = rng.uniform(-width, width, shape).astype(np.float32)
        arrays[f"{name}.bias"] = rng.uniform(-width, width, shape[0]).astype(np.float32)

    channels = joints
    for place, layer in enumerate(architecture.layers):
        linear(f"encoder.layers.{place}", (layer.channels, channels, layer.kernel))
        channels = layer.channels
    flat = channels * architecture.frames(WINDOW)[-1]
    linear("encoder.out", (architecture.dimensions, flat))
    linear("encoder.straight", (architecture.dimensions, joints * WINDOW))
    del arrays["encoder.straight.bias"]
    arrays["codebook"] = _codebook(architecture, arrays, rng)
    arrays |= {f"clusters.{j}": rng.integers(0, j, codes) for j in clusterings}
    arrays[f"clusters.{codes}"] = np.arange(codes)
    save_model(MemoryModel(architecture, arrays), out)
    return Path(out)


@pytest.fixture(scope="session")
def random_model():
    """random_model(folder, seed, architecture) saves a model with random weights."""
    return _random_model


@pytest.fixture(scope="session")
def model_dir(tmp_path_factory):
    """The folder of a model with random weights."""
    return _random_model(tmp_path_factory.mktemp("model"), 0)


@pytest.fixture(scope="session")
def trajectory():
    """trajectory(frames, seed) -> (frames, 13) float32, rad, a smooth random walk."""
    return lambda frames, seed=0: _trajectory(frames, np.random.default_rng(seed))


@pytest.fixture(scope="session")
def small_model(tmp_path_factory):
    """The folder of a model with 16 codes and random weights."""
    shape = Architecture(layers=(Layer(8, 5, 4),), dimensions=6, codes=16)
    return _random_model(tmp_path_factory.mktemp("model") / "small", 0, shape, (2, 4))


@pytest.fixture
def copied(recordings, tmp_path):
    """A copy of the recordings, which tests may change."""
    return shutil.copytree(recordings, tmp_path / "demos")
