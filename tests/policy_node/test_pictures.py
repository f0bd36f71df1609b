from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from policy_node.image_arrays import load_images, shrink, small_images
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.layout import image_key
from rulesafe_data.store import EpisodeStore

CAMERAS = tuple(map(image_key, DEFAULT_CAMERAS.names))


def test_a_small_pixel_is_the_mean_of_its_area():
    picture = np.zeros((1, 4, 4, 3), np.uint8)
    picture[0, :2, 2:] = [[[10, 0, 255]], [[20, 1, 255]]]
    small = shrink(picture, 2)
    assert small.shape == (1, 2, 2, 3)
    assert small[0, 0, 1].tolist() == [15, 1, 255]
    assert small[0, 1].max() == 0


def test_sides_that_do_not_divide_take_the_nearest_pixel_and_small_ones_stay():
    picture = np.arange(5 * 5 * 3, dtype=np.uint8).reshape(1, 5, 5, 3)
    assert shrink(picture, 2).tolist() == picture[:, [1, 3]][:, :, [1, 3]].tolist()
    assert shrink(picture, 8) is picture


def test_other_aspect_ratios_are_cropped_as_in_an_observation():
    """As those of datasets from bags of a real camera."""
    wide = np.zeros((3, 120, 160, 3), np.uint8)
    wide[:, :, 20:140] = 200
    images = dict.fromkeys(CAMERAS, wide)
    episodes = {0: SimpleNamespace(length=3)}
    store: Any = SimpleNamespace(
        cameras=DEFAULT_CAMERAS, images=CAMERAS, episodes=episodes, episode=lambda *_: images
    )
    (found,) = small_images(store, [0], 16)
    assert found.shape == (3, 2, 16, 16, 3) and (found == 200).all()


def test_pictures_of_chosen_episodes_in_their_order(demos, tmp_path):
    store = EpisodeStore(demos)
    found = load_images(store, [1, 0], 16, tmp_path)
    first = store.episodes[1].length
    assert found.shape == (first + store.episodes[0].length, 2, 16, 16, 3)
    for place, key in enumerate(CAMERAS):
        wanted = shrink(store.episode(0, [key])[key], 16)
        np.testing.assert_array_equal(found[first:, place], wanted)
    with pytest.raises(RuleSafeError, match="computed from other or changed data"):
        load_images(store, [0], 16, tmp_path)
