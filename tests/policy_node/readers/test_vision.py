"""Images in training, where they are cached at a small size, and at inference."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from policy_node.batches import Batch
from policy_node.configs import EncoderConfig
from policy_node.configs_vla import IMAGE_SIDE, RDT_SIZES, Backbone
from policy_node.image_arrays import shrink
from policy_node.scene_encoder import make_encoder
from policy_node.vision import ConvEncoder, Vision


@pytest.mark.parametrize("size", [112, 56, 96])
def test_pictures_kept_small_say_what_those_of_the_camera_say(size):
    eye = Backbone("conv", {"size": size, "channels": [8, 8]})
    kept = replace(RDT_SIZES["tiny"], vision=(eye,)).image_size
    rng = np.random.default_rng(0)
    filmed = rng.integers(0, 256, (2, IMAGE_SIDE, IMAGE_SIDE, 3), np.uint8)
    torch.manual_seed(0)
    vision = Vision([ConvEncoder(**eye.sizes)], 8)
    learned, seen = (torch.from_numpy(p)[None] for p in (shrink(filmed, kept), filmed))

    def look(pictures):
        return vision(Batch(torch.zeros(1, 1, 13), images=pictures))

    with torch.no_grad():
        # Up to rounding to integers.
        torch.testing.assert_close(look(learned), look(seen), atol=0.02, rtol=0.0)
        assert (look(seen) - look(255 - seen)).abs().max() > 0.1


@pytest.mark.parametrize("shape", [(30, 50), (32, 64), (12, 40)])
def test_images_of_any_size_are_reduced_as_in_training(shape):
    images = np.random.default_rng(0).integers(0, 256, (1, 2, *shape, 3), np.uint8)
    torch.manual_seed(0)
    vision = Vision([ConvEncoder(16, (8, 8))], 8)
    found = []
    for each in (images, shrink(images[0], 16)[None]):
        with torch.no_grad():
            found.append(vision(Batch(torch.zeros(1, 1, 13), images=torch.from_numpy(each))))
    torch.testing.assert_close(*found, atol=0.02, rtol=0.0)  # up to rounding to integers


def test_a_cloud_is_a_token_before_those_of_pictures():
    torch.manual_seed(0)
    scene = make_encoder(EncoderConfig(("safe_01",), 32, (8, 16), 8))
    eye = ConvEncoder(16, (8, 8))
    both, alone = Vision([eye], 8, scene=scene), Vision([], 8, scene=scene)
    alone.from_scene = both.from_scene
    pictures = torch.randint(256, (2, 2, 16, 16, 3), dtype=torch.uint8)
    batch = Batch(torch.zeros(2, 1, 13), points=torch.rand(2, 1, 32, 6), images=pictures)
    with torch.no_grad():
        assert both(batch).shape == (2, 1 + 2 * eye.patches, 8)
        assert torch.equal(both(batch)[:, :1], alone(batch))
        seen = replace(batch, points=None, scene_features=scene(batch.points))
        assert torch.equal(alone(seen), alone(batch))
    assert not any(value.requires_grad for value in scene.parameters())


def test_the_largest_of_several_eyes_decides_how_small_pictures_are_kept():
    def kept(*sizes):
        eyes = tuple(Backbone("conv", {"size": size, "channels": [8]}) for size in sizes)
        return replace(RDT_SIZES["tiny"], vision=eyes).image_size

    assert kept(112, 56) == 112
    assert kept(112, 32) == IMAGE_SIDE  # 112 is not a multiple of 32
