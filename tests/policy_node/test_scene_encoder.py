"""The scene encoder: trained on scenes, stored in a file, frozen in policies."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import save_file

from policy_node.batches import Batch
from policy_node.configs import Dp3Config, EncoderConfig
from policy_node.dp3 import Dp3
from policy_node.scene_encoder import (
    KIND,
    QUANTITIES,
    SceneEncoder,
    Scenes,
    errors,
    fit,
    load_encoder,
    load_scenes,
    save_encoder,
)
from rulesafe_core.errors import RuleSafeError
from vq_memory_node.memory import MemoryShape

pytestmark = pytest.mark.train

SAFES = ("safe_01", "safe_02")
POINTS = 128


def boxes(count, seed=0):
    """Return scenes of a flat and a tall box at random poses."""
    rng = np.random.default_rng(seed)
    safe = rng.integers(2, size=count)
    size = np.where(safe[:, None], [0.1, 0.2, 0.1], [0.2, 0.1, 0.2])
    place = rng.uniform([0.55, -0.25, 0.25], [0.65, -0.15, 0.35], (count, 3))
    points = rng.uniform(-1, 1, (count, POINTS, 3)) * size[:, None] + place[:, None]
    clouds = np.concatenate([points, rng.random((count, POINTS, 3))], axis=2).astype(np.float32)
    seen = np.zeros((count, len(QUANTITIES)), np.float32)
    seen[:, :3] = place
    return Scenes(clouds, seen, safe, SAFES)


@pytest.fixture(scope="module")
def encoder():
    return fit(boxes(600), steps=250, batch=32)


def test_it_tells_where_what_it_never_saw_stands_and_which_it_is(encoder):
    scenes = boxes(100, seed=1)
    off, known = errors(encoder, scenes)
    assert known == 1
    guess = np.abs(scenes.seen[:, :3] - scenes.seen[:, :3].mean(0)).mean()
    assert off[:, :3].mean() < guess / 2


def pictures(count, seed=0):
    """Return scenes of a bright or a dark square, seen by two cameras."""
    rng = np.random.default_rng(seed)
    safe, side = rng.integers(2, size=count), 16
    place = rng.integers(0, 2 * side - 8, (count, 3))
    images = np.full((count, 2, 2 * side, 2 * side, 3), 128, np.uint8)
    for image, (x, y, z), bright in zip(images, place, safe, strict=True):
        image[0, y : y + 8, x : x + 8] = 255 * bright
        image[1, z : z + 8, x : x + 8] = 255 * bright
    seen = np.zeros((count, len(QUANTITIES)), np.float32)
    seen[:, :3] = place * 0.005
    return Scenes(images, seen, safe, SAFES)


def test_images_of_two_cameras_tell_where_a_safe_is():
    scenes = pictures(100, seed=1)
    encoder = fit(pictures(400), steps=150, batch=32)
    assert encoder.config.image_size == 32
    off, known = errors(encoder, scenes)
    assert known > 0.9
    deviation = np.abs(scenes.seen[:, :3] - scenes.seen[:, :3].mean(0)).mean()
    assert off[:, :3].mean() < deviation / 2, "half the error of a constant estimate"
    larger = torch.from_numpy(scenes.inputs[:3]).repeat_interleave(2, 2).repeat_interleave(2, 3)
    assert torch.allclose(encoder(larger), encoder(torch.from_numpy(scenes.inputs[:3])), atol=1e-5)


def test_the_order_of_points_does_not_matter(encoder):
    cloud = torch.from_numpy(boxes(2).inputs)
    assert torch.allclose(encoder(cloud), encoder(cloud.flip(1)), atol=1e-5)


def test_training_depends_on_the_seed_alone():
    first, again, other = (fit(boxes(50), steps=3, seed=seed).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not torch.equal(first["head.1.weight"], other["head.1.weight"])


def test_saved_and_loaded_it_is_the_same(encoder, tmp_path):
    path = tmp_path / "mine.safetensors"
    save_encoder(encoder, path)
    loaded = load_encoder(str(path))
    assert loaded.config == encoder.config
    cloud = torch.from_numpy(boxes(3).inputs)
    assert torch.equal(loaded(cloud), encoder(cloud))


def test_scenes_are_kept(tmp_path):
    scenes = boxes(5)
    scenes.save(tmp_path / "scenes.npz")
    loaded = load_scenes(tmp_path / "scenes.npz")
    assert loaded.safes == SAFES
    for name in ("inputs", "seen", "safe"):
        assert np.array_equal(getattr(loaded, name), getattr(scenes, name))


def test_what_is_no_encoder_and_what_holds_no_scenes_is_refused(tmp_path):
    with pytest.raises(RuleSafeError, match="ten_safes"):
        load_encoder("eleven_safes")
    (tmp_path / "bad.safetensors").write_bytes(b"no")
    with pytest.raises(RuleSafeError, match="cannot be read"):
        load_encoder(str(tmp_path / "bad.safetensors"))
    with pytest.raises(RuleSafeError, match="is not a file of `policy scenes`"):
        load_scenes(tmp_path / "bad.safetensors")
    with pytest.raises(RuleSafeError, match="is not a file of `policy scenes`"):
        load_scenes(tmp_path / "none.npz")
    boxes(5).save(tmp_path / "scenes.npz")
    whole = (tmp_path / "scenes.npz").read_bytes()
    for size in (0, len(whole) // 2):
        (tmp_path / "part.npz").write_bytes(whole[:size])
        with pytest.raises(RuleSafeError, match="is not a file of `policy scenes`"):
            load_scenes(tmp_path / "part.npz")


def test_errors_are_measured_on_scenes_of_the_encoders_safes():
    encoder = SceneEncoder(EncoderConfig(("safe_02", "safe_01"), points=16))
    with pytest.raises(RuleSafeError, match=r"safes of the scenes is .*, that of the encoder"):
        errors(encoder, boxes(2))


@pytest.mark.parametrize("config", ["no JSON", "{}", '{"safes": ["safe_01"], "size": 3}'])
def test_an_encoder_with_an_invalid_configuration_is_refused(config, tmp_path):
    path = tmp_path / "bad.safetensors"
    save_file({"weight": torch.zeros(1)}, path, {"kind": KIND, "config": config})
    with pytest.raises(RuleSafeError, match="cannot be read"):
        load_encoder(str(path))


def test_a_policy_sees_through_it_and_leaves_it_as_it_is(tmp_path):
    path = tmp_path / "random.safetensors"
    torch.manual_seed(0)
    save_encoder(SceneEncoder(EncoderConfig(SAFES, points=16, pointnet=(8, 16), hidden=8)), path)
    config = replace(Dp3Config(), encoder=str(path), points=16, channels=(32, 32), groups=4)
    network = Dp3(config, MemoryShape())
    before = {key: value.clone() for key, value in network.state_dict().items()}
    batch = Batch(
        torch.rand(4, 3, 13), points=torch.rand(4, 1, 16, 6), actions=torch.rand(4, 52, 13)
    )
    optimiser = torch.optim.AdamW([p for p in network.parameters() if p.requires_grad], 1e-3)
    network.loss(batch).backward()
    optimiser.step()
    changed = {key for key, value in network.state_dict().items() if not value.equal(before[key])}
    assert changed and not any(key.startswith("cloud.") for key in changed)
    alone = Dp3(network.built(config), MemoryShape())  # without the encoder's file
    alone.load_state_dict(network.state_dict())
    assert torch.equal(alone.condition(batch), network.condition(batch))
    other = replace(batch, points=batch.points + 0.1)
    assert not torch.allclose(network.condition(batch), network.condition(other))
