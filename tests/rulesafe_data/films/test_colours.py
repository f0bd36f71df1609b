"""Colours of tokens."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from rulesafe_data.films.colours import LIGHTNESS, OKABE_ITO, cluster_colours, oklab


def test_oklab_of_known_colours():
    """White, sRGB's red, and black."""
    found = oklab(np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    expected = [[1, 0, 0], [0.628, 0.2249, 0.1258], [0, 0, 0]]
    assert found == pytest.approx(np.array(expected), abs=1e-3)


@pytest.mark.parametrize(("count", "apart"), [(7, 0.12), (32, 0.1), (256, 0.04)])
def test_tokens_have_colours_apart_that_stand_out_from_the_film(count, apart):
    places = oklab(cluster_colours(count)[:, :3])
    distances = np.linalg.norm(places[:, None] - places, axis=2) + 9 * np.eye(count)
    assert distances.min() > apart
    assert places[:, 0].min() >= LIGHTNESS[0] - 0.01


def test_a_token_has_the_same_colour_in_every_vocabulary():
    assert (cluster_colours(256)[:32] == cluster_colours(32)).all()
    assert [to_hex(colour).upper() for colour in cluster_colours(7)] == list(OKABE_ITO)
    assert cluster_colours(4096).shape == (4096, 4)
