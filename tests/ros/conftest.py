"""Fixtures for tests with nodes: loopback only, one ROS domain per test process, so that several
processes can run at the same time."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # for memory_player

PATIENCE = 180.0
STATES = Path(__file__).parents[2] / "datasets/rule_001_rule_020.parquet"


class Process:
    """A node in another process."""

    def __init__(self, module: str, *parameters: str, words: Sequence[str] = ()):
        arguments = [part for p in parameters for part in ("-p", p)]
        ros = ["--ros-args", *arguments] if arguments else []
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *words, *ros],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def stop(self, how: int = signal.SIGINT) -> tuple[int, str]:
        """Interrupt the process unless it has ended, and return its exit code and output."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        output, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, output

    def stop_well(self) -> str:
        """Interrupt the process, check that its exit code is 0, and return its output."""
        code, output = self.stop()
        assert code == 0, output
        return output

    def wait(self, patience: float = PATIENCE) -> tuple[int, str]:
        """Wait for the end of the process, and return its exit code and output."""
        output, _ = self.process.communicate(timeout=patience)
        return self.process.returncode, output


@pytest.fixture
def player(client):
    """Publishes joint states for the memory node, and receives its tokens."""
    from memory_player import Player

    return Player(client)


@pytest.fixture
def start():
    """start(module, *parameters, words=()) -> Process; all are killed after the test."""
    running: list[Process] = []

    def begin(module: str, *parameters: str, words: Sequence[str] = ()) -> Process:
        running.append(Process(module, *parameters, words=words))
        return running[-1]

    yield begin
    for process in running:
        if process.process.poll() is None:
            process.process.kill()
            process.process.wait()


@pytest.fixture
def logs(client):
    """Texts on /rosout."""
    from rcl_interfaces.msg import Log

    from rulesafe_core.convert import LATCHED_QOS

    texts: list[str] = []
    client.create_subscription(Log, "/rosout", lambda log: texts.append(log.msg), LATCHED_QOS)
    return texts


@pytest.fixture
def bag_command(start):
    """bag_command(*words) -> `rulesafe bag` as a Process."""
    return lambda *words: start("rulesafe_cli.cli", words=("bag", *map(str, words)))


@pytest.fixture(scope="session")
def save_random_model(tmp_path_factory):
    """save_random_model(**changes) -> folder of a small model with random weights. Its 16 codebook
    entries are latents of a stored episode, so that the tokens change with the robot's motion."""
    import numpy as np

    from rulesafe_data.states import load_states
    from vq_memory_node.model_files import Architecture, Layer, MemoryModel, save_model
    from vq_memory_node.tokenizers import NumpyEncoder
    from vq_memory_node.windows import WINDOW, window_at

    positions, _ = load_states(STATES)[0]
    shape, rng = (
        Architecture(layers=(Layer(8, 5, 4),), dimensions=6, codes=16),
        np.random.default_rng(0),
    )
    flat = 8 * shape.frames(WINDOW)[-1]

    def normal(*size):
        return rng.normal(0, 0.2, size).astype(np.float32)

    arrays = {
        "normaliser.mean": positions.mean(axis=0),
        "normaliser.std": positions.std(axis=0) + np.float32(0.01),
        "encoder.layers.0.weight": normal(8, 13, 5),
        "encoder.layers.0.bias": normal(8),
        "encoder.out.weight": normal(6, flat),
        "encoder.out.bias": normal(6),
        "encoder.straight.weight": normal(6, 13 * WINDOW) / 10,
        "usage": np.full(16, 1 / 16, np.float32),
        "clusters.4": np.arange(16) % 4,
        "clusters.16": np.arange(16),
    }
    encoder = NumpyEncoder(MemoryModel(shape, arrays))
    ends = np.linspace(0, len(positions) - 1, 16).astype(int)
    arrays["codebook"] = np.stack([encoder.latent(window_at(positions, end)) for end in ends])

    def save(**changes) -> Path:
        folder = tmp_path_factory.mktemp("model") / "random"
        save_model(MemoryModel(shape, arrays, **changes), folder)
        return folder

    return save


@pytest.fixture(scope="session")
def model_dir(save_random_model):
    """Folder of a small model with random weights."""
    return save_random_model()
