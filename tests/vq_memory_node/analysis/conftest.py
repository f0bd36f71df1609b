"""Short recordings in the form of `rulesafe demos generate --passes states`, and a small model."""

import shutil

import numpy as np
import pytest

from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data import attempt_recording
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_demos.attempts import make_request, settle
from rulesafe_sim.randomisation import load_split, sample_variation
from vq_memory_node.analysis.trajectories import load_trajectories
from vq_memory_node.model_files import Architecture, Layer, MemoryModel, save_model
from vq_memory_node.tokenizers import NumpyEncoder
from vq_memory_node.windows import WINDOW, window_at

RULES = {"rule_001": 3, "rule_020": 8}
"""Rules of the recordings, and the steps of their plans."""

ROBOT_JOINTS = (*reversed(ACTION_JOINTS), "torso_joint")


def rows(steps, seed):
    """Return one attempt: each step has a different posture, reached in 30 to 60 frames."""
    rng = np.random.default_rng(seed)
    times = rng.integers(30, 60, steps)
    poses = np.random.default_rng(steps).normal(0, 0.5, (steps + 1, len(ROBOT_JOINTS)))
    done = np.append(np.repeat(np.arange(steps), times), steps)
    way = np.append(np.concatenate([np.linspace(0, 1, n, endpoint=False) for n in times]), 0)
    after = poses[np.minimum(done + 1, steps)]
    positions = poses[done] + way[:, None] * (after - poses[done])
    positions += rng.normal(0, 0.01, positions.shape)
    found = []
    for frame, step in enumerate(done):
        found.append(
            {
                "time": frame * 0.1,
                "robot_positions": positions[frame].astype(np.float32),
                "robot_velocities": np.zeros(len(ROBOT_JOINTS), np.float32),
                "safe_positions": np.zeros(3, np.float32),
                "part_open": np.zeros(3, bool),
                "part_locked": np.zeros(3, bool),
                "steps_done": int(step),
                "contact_force": np.zeros(6, np.float32),
                "action": positions[frame, :13].astype(np.float32),
                "step": min(int(step) + 1, steps),
                "event": "knob+",
                "attempt": 1,
                "operation": "turn",
            }
        )
    return found


@pytest.fixture(scope="package")
def recordings(tmp_path_factory):
    """Four recordings of each of two rules, and a failure; tests must not change them."""
    directory = tmp_path_factory.mktemp("memory") / "recordings"
    directory.mkdir()
    settle(directory, make_request(",".join(RULES), 4, 20, "safe_02,safe_04", "nominal", 0))
    folder = DemoFolder(directory)
    for rule, steps in RULES.items():
        for number in range(5):
            success = number != 1
            safe = ("safe_02", "safe_04")[number % 2]
            nominal = load_split("nominal").randomisation
            facts = {
                "rule": rule,
                "safe": safe,
                "seed": 10000 + number,
                "instruction": "Open it.",
                "variation": sample_variation(nominal, safe, 10000 + number).to_dict(),
                "success": success,
                "robot_joints": list(ROBOT_JOINTS),
            }
            path = folder.file(rule, number, success)
            path.parent.mkdir(parents=True, exist_ok=True)
            attempt_recording.save(path, rows(steps, number), facts)
    return directory


@pytest.fixture
def copied(recordings, tmp_path):
    """A copy of the recordings, which tests may change."""
    return shutil.copytree(recordings, tmp_path / "demos")


@pytest.fixture(scope="package")
def model_dir(recordings, tmp_path_factory):
    """A small model with random weights. Its 16 codes are latents of windows of the recordings; the
    last two have usage 0. Each code is in the cluster of the nearest of the first J codes."""
    found, rng = load_trajectories(recordings), np.random.default_rng(0)
    shape = Architecture(layers=(Layer(8, 5, 4),), dimensions=6, codes=16)
    flat = 8 * shape.frames(WINDOW)[-1]
    everything = np.concatenate(found.positions)
    arrays = {
        "normaliser.mean": everything.mean(axis=0),
        "normaliser.std": everything.std(axis=0),
        "encoder.layers.0.weight": rng.normal(0, 0.2, (8, 13, 5)).astype(np.float32),
        "encoder.layers.0.bias": rng.normal(0, 0.2, 8).astype(np.float32),
        "encoder.out.weight": rng.normal(0, 0.2, (6, flat)).astype(np.float32),
        "encoder.out.bias": rng.normal(0, 0.2, 6).astype(np.float32),
        "encoder.straight.weight": rng.normal(0, 0.02, (6, 13 * WINDOW)).astype(np.float32),
        "usage": np.append(np.full(14, 1 / 14), [0, 0]).astype(np.float32),
    }
    encoder = NumpyEncoder(MemoryModel(shape, arrays))
    longest = found.positions[1]
    ends = rng.choice(len(longest), shape.codes, replace=False)
    codebook = np.stack([encoder.latent(window_at(longest, int(end))) for end in ends])
    away = np.linalg.norm(codebook[:, None] - codebook[None], axis=2)
    arrays |= {f"clusters.{j}": away[:, :j].argmin(axis=1) for j in (2, 4)}
    arrays |= {"codebook": codebook, "clusters.16": rng.permutation(16)}
    folder = tmp_path_factory.mktemp("model") / "small"
    save_model(MemoryModel(shape, arrays), folder)
    return folder
