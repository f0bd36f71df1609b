"""Small synthetic episodes, and a finished dataset of three of them."""

import numpy as np
import pytest

from rulesafe_data.frame import Frame
from rulesafe_data.writer import DatasetWriter, EpisodeData

LENGTHS = (23, 40, 9)
POINTS = 50


def frames(length: int, seed: int) -> list[Frame]:
    """Pictures of a disc that wanders over a gradient, clouds of random points."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:48, 0:64]
    found = []
    for t in range(length):
        picture = np.stack([x * 3, y * 4, x + y], axis=-1).astype(np.uint8)
        picture[(x - 10 - t) ** 2 + (y - 24) ** 2 < 60] = (250, 30 + seed, 10)
        colours = rng.integers(0, 256, (POINTS, 3)) / np.float32(255)
        points = np.hstack([rng.normal(size=(POINTS, 3)), colours]).astype(np.float32)
        found.append(Frame({"head": picture, "front": picture[:, ::-1]}, points))
    return found


def episode(index: int, pictures: bool = True, length: int | None = None) -> EpisodeData:
    """Episode `index`, always the same one."""
    length = LENGTHS[index % 3] if length is None else length
    rng = np.random.default_rng(index)
    positions = np.cumsum(rng.normal(0, 0.01, (length, 39)), axis=0)
    return EpisodeData(
        task=("open the safe", "turn the knob")[index % 2],
        joint_positions=positions,
        joint_velocities=np.gradient(positions, 0.1, axis=0),
        actions=positions[:, 20:33] + 0.01,
        frames=iter(frames(length, index)) if pictures else None,
        privileged={"step": np.arange(length) // 10, "part_open": np.ones((length, 3), bool)},
        facts={"rule": f"rule_{index + 1:03d}", "seed": index, "success": True, "names": ["a"]},
    )


@pytest.fixture(scope="package")
def root(tmp_path_factory):
    """A finished dataset of three episodes with pictures and clouds; not to be changed."""
    root = tmp_path_factory.mktemp("data") / "demos"
    writer = DatasetWriter(root)
    for index in range(3):
        writer.write(index, episode(index))
    writer.finish()
    return root


@pytest.fixture(scope="package")
def expected(tmp_path_factory):
    """The files of a dataset of episodes 0 and 1 that nothing happened to."""
    root = tmp_path_factory.mktemp("expected")
    writer = DatasetWriter(root)
    for index in range(2):
        writer.write(index, episode(index))
    writer.finish()
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def states_only(tmp_path):
    """A finished dataset of five episodes without pictures."""
    writer = DatasetWriter(tmp_path / "states")
    for index in range(5):
        writer.write(index, episode(index, pictures=False))
    writer.finish()
    return writer.root


@pytest.fixture
def make():
    """The maker of episodes, for tests that write their own."""
    return episode


@pytest.fixture
def make_frames():
    """The maker of frames."""
    return frames
