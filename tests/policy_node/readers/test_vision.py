"""Images in training, where they are cached at a small size, and at inference."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from policy_node.batches import Batch
from policy_node.configs import EncoderConfig
from policy_node.configs_vla import IMAGE_SIDE, RDT_SIZES, ImageEncoderConfig
from policy_node.image_arrays import shrink
from policy_node.vision import Vision
from rulesafe_core.errors import RuleSafeError


def images_only(size):
    return replace(RDT_SIZES["images"], vision=ImageEncoderConfig(size, (8, 8)))


@pytest.mark.parametrize("size", [112, 56, 96])
def test_pictures_kept_small_say_what_those_of_the_camera_say(size):
    config = images_only(size)
    kept = config.image_size
    rng = np.random.default_rng(0)
    filmed = rng.integers(0, 256, (2, IMAGE_SIDE, IMAGE_SIDE, 3), np.uint8)
    torch.manual_seed(0)
    vision = Vision(config, 8)
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
    vision = Vision(images_only(16), 8)
    found = []
    for each in (images, shrink(images[0], 16)[None]):
        with torch.no_grad():
            found.append(vision(Batch(torch.zeros(1, 1, 13), images=torch.from_numpy(each))))
    torch.testing.assert_close(*found, atol=0.02, rtol=0.0)  # up to rounding to integers


def test_a_cloud_is_a_token_before_those_of_pictures():
    torch.manual_seed(0)
    scene = EncoderConfig(("safe_01",), 32, (8, 16), 8)
    both = Vision(replace(images_only(16), encoder=scene), 8)
    alone = Vision(replace(images_only(16), encoder=scene, vision=None), 8)
    alone.scene, alone.from_scene = both.scene, both.from_scene
    pictures = torch.randint(256, (2, 2, 16, 16, 3), dtype=torch.uint8)
    batch = Batch(torch.zeros(2, 1, 13), points=torch.rand(2, 1, 32, 6), images=pictures)
    with torch.no_grad():
        assert both(batch).shape == (2, 1 + 2 * both.encoders[0].patches, 8)
        assert torch.equal(both(batch)[:, :1], alone(batch))
        seen = replace(batch, points=None, scene_features=both.scene(batch.points))
        assert torch.equal(alone(seen), alone(batch))
    assert not any(value.requires_grad for value in both.scene.parameters())


def test_a_network_without_any_encoder_is_refused():
    with pytest.raises(RuleSafeError, match="no vision; set `vision` or `encoder`"):
        Vision(replace(RDT_SIZES["tiny"], encoder=None), 8)


def test_images_are_stored_at_a_size_that_divides_that_of_the_dataset():
    assert images_only(112).image_size == 112
    assert images_only(96).image_size == IMAGE_SIDE
    assert RDT_SIZES["tiny"].image_size == 0
