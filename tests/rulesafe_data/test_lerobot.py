"""The video decoder for lerobot; lerobot itself is replaced by an empty module."""

import sys
from types import ModuleType

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.layout import CAMERAS
from rulesafe_data.lerobot import decode_video_frames, use_pyav
from rulesafe_data.store import EpisodeStore

torch = pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def path(root):
    return root / f"videos/{CAMERAS[0]}/chunk-000/file-001.mp4"


def test_frames_are_those_of_the_store(root, path):
    frames = decode_video_frames(path, [0.0, 3.9, 1.2000001], 1e-4, "pyav")
    assert frames.dtype == torch.float32 and frames.shape == (3, 3, 48, 64)
    store = EpisodeStore(root)
    for frame, index in zip(frames, (0, 39, 12), strict=True):
        expected = np.moveaxis(store[1, index][CAMERAS[0]], -1, 0)
        assert np.array_equal((frame * 255).round().byte().numpy(), expected)


def test_a_timestamp_between_two_frames_is_refused(path):
    with pytest.raises(RuleSafeError, match=r"no frame within 0.0001 s of 0.15 s"):
        decode_video_frames(path, [0.15], 1e-4)


def test_lerobot_uses_the_decoder(monkeypatch):
    module = ModuleType("lerobot.datasets.lerobot_dataset")
    datasets = ModuleType("lerobot.datasets")
    datasets.lerobot_dataset = module
    names = ("lerobot", "lerobot.datasets", module.__name__)
    for name, of in zip(names, (ModuleType("lerobot"), datasets, module), strict=True):
        monkeypatch.setitem(sys.modules, name, of)
    use_pyav()
    assert module.decode_video_frames is decode_video_frames
