import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dataclasses import replace

from policy_node.configs import EncoderConfig
from policy_node.dp3 import Dp3
from policy_node.scene_encoder import SceneEncoder
from policy_node.scene_features import VIEWS, load_scene_features
from policy_node.train_config import TrainConfig
from policy_node.training_data import ObservationWindows
from rulesafe_data.store import EpisodeStore

COUNT = 32


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return SceneEncoder(EncoderConfig(("safe_01",), COUNT, (8, 16), 8)).requires_grad_(False)


@pytest.fixture
def clouds():
    return np.random.default_rng(0).random((7, 40, 6)).astype(np.float32)


def test_the_first_view_is_what_is_seen_at_inference(encoder, clouds, tmp_path):
    rows = np.array([3, 0, 6])
    found = load_scene_features(encoder, clouds, rows, COUNT, tmp_path, "some")
    assert found.shape == (VIEWS, 3, encoder.features)
    seen = encoder(torch.from_numpy(clouds[rows, :COUNT])).numpy()
    np.testing.assert_allclose(found[0], seen, atol=1e-6)
    assert all(np.abs(found[view] - found[0]).max() > 1e-4 for view in range(1, VIEWS))


def test_repeated_clouds_are_encoded_once(encoder, clouds, tmp_path):
    """As those of demonstrations that were rendered at less than 10 Hz."""
    encoded = []

    def counting(points):
        encoded.append(len(points))
        return encoder(points)

    counting.state_dict = encoder.state_dict
    rows = np.array([2, 2, 2, 5, 2, 2, 0])
    found = load_scene_features(counting, clouds, rows, COUNT, tmp_path, "some")
    assert encoded == [4] * VIEWS
    expected = load_scene_features(encoder, clouds, np.arange(7), COUNT, tmp_path, "all")
    np.testing.assert_allclose(found, expected[:, rows], atol=1e-6)


def test_they_are_found_once_for_each_encoder_and_choice(encoder, clouds, tmp_path):
    rows = np.arange(7)
    load_scene_features(encoder, clouds, rows, COUNT, tmp_path, "some")
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("scene_features_*.npy")}
    load_scene_features(encoder, clouds, rows, COUNT, tmp_path, "some")
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("scene_features_*.npy")} == kept
    load_scene_features(encoder, clouds, rows, COUNT, tmp_path, "others")
    with torch.no_grad():
        encoder.head[-1].bias += 1
    load_scene_features(encoder, clouds, rows, COUNT, tmp_path, "some")
    assert len(list(tmp_path.glob("scene_features_*.npy"))) == 3


def test_windows_show_them_in_place_of_clouds(demos, cache, small, memories, encoder):
    """Without noise, cached features give the same condition as the point clouds."""
    network = Dp3(replace(small, encoder=encoder.config), memories["none"].shape)
    assert network.scene_encoder() is network.cloud
    assert Dp3(small, memories["none"].shape).scene_encoder() is None  # a PointNet that is trained
    store = EpisodeStore(demos)
    common = (store, [0, 2], small, memories["none"])
    plain = ObservationWindows(*common, TrainConfig(), cache)
    there = TrainConfig(safe_frame=False)
    windows = ObservationWindows(*common, there, cache, encoder=network.scene_encoder())
    places = np.array([0, 5, 90])
    seen, shown = windows.batch(places), plain.batch(places)
    assert seen.points is None and seen.scene_features is not None
    with torch.no_grad():
        torch.testing.assert_close(network.condition(seen), network.condition(shown))
    noisy = windows.batch(places, np.random.default_rng(0))
    assert not torch.equal(noisy.scene_features, seen.scene_features)
    jittered = ObservationWindows(
        *common, TrainConfig(points_jitter=0.01), cache, encoder=network.scene_encoder()
    )
    assert jittered.batch(places).points is not None  # different noise each time
