"""The token strip below a film's images."""

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.films.colours import cluster_colours
from rulesafe_data.films.frames import BACKGROUND, LATER, MARGIN, SIDE
from rulesafe_data.films.strip import BAND, TOP, Tokens, squares, strip, with_strip


def tokens(values, vocabulary=4, length=40) -> Tokens:
    """The newest values of a memory of a length, 2 s apart."""
    whole, mask = np.zeros(length, np.int64), np.arange(length) >= length - len(values)
    whole[mask] = values
    return Tokens(whole, mask, vocabulary, 2.0)


def corners(picture, length=40):
    """The pixel next to each square's upper left corner: no number reaches it."""
    return np.array([picture[TOP + 1, left + 1] for left, _ in squares(length)])


def colours(values, vocabulary=4):
    return np.round(255 * cluster_colours(vocabulary)[values, :3])


def test_squares_follow_the_tokens_and_empty_ones_are_outlines():
    picture = strip(tokens([3, 0, 1]))
    assert picture.shape == (BAND, 2 * SIDE, 3)
    found = corners(picture)
    assert (found[-3:] == colours([3, 0, 1])).all()
    assert (found[:-3] == BACKGROUND).all()
    for left, right in squares(40)[:-3]:
        assert (picture[TOP, left:right] == LATER).all()
        assert (picture[TOP + 1 : TOP + 18, left + 1 : right - 1] == BACKGROUND).all()


def test_the_strip_grows_and_slides():
    values = np.arange(50) % 4
    for seen in (1, 20, 40):
        found = corners(strip(tokens(values[:seen])))
        assert (found[40 - seen :] == colours(values[:seen])).all()
    one, later = (corners(strip(tokens(values[i : 40 + i]))) for i in (0, 1))
    assert (one[1:] == later[:-1]).all() and (one != later).any()


@pytest.mark.parametrize("vocabulary", [2, 32, 256])
def test_every_token_is_told_by_its_colour_and_its_number(vocabulary):
    last = [vocabulary - 1 - i for i in range(min(vocabulary, 40))]
    picture = strip(tokens(last, vocabulary))
    found = corners(picture)[40 - len(last) :]
    assert (found == colours(last, vocabulary)).all()
    assert len(np.unique(found, axis=0)) == len(last)
    for (left, right), colour in zip(squares(40)[40 - len(last) :], found, strict=True):
        square = picture[TOP : TOP + right - left, left:right]
        assert (square != colour).any(axis=2).mean() > 0.05, "no number"


@pytest.mark.parametrize("length", [1, 7, 20, 40, 60, 1000])
def test_squares_are_crisp_and_within_the_picture(length):
    """On even pixels, for the film keeps colours at half the resolution."""
    places = squares(length)
    assert len(places) == (length if length < 1000 else 116)
    assert places[0][0] == MARGIN and places[-1][1] <= 2 * SIDE - MARGIN
    assert all(left % 2 == right % 2 == 0 and right - left >= 6 for left, right in places)
    picture = strip(tokens(np.zeros(length, int), length=length))
    assert (picture[TOP + 1, places[-1][0] + 1] == colours([0])[0]).all()


def test_the_legend_tells_the_vocabulary_and_how_much_is_remembered():
    legends = [
        strip(tokens(*of))[:TOP].tobytes()
        for of in (([0, 1], 4), ([1, 0], 4), ([0, 1], 8), ([0, 1, 1], 4))
    ]
    assert legends[0] == legends[1]
    assert len(set(legends)) == 3


def test_without_tokens_a_picture_stays_as_it_is():
    picture = np.full((592, 2 * SIDE, 3), 90, np.uint8)
    assert with_strip(picture, None) is picture
    longer = with_strip(picture, tokens([2]))
    assert (longer[:592] == picture).all() and longer.shape == (592 + BAND, 2 * SIDE, 3)


def test_before_anything_was_observed_all_squares_are_empty():
    assert (corners(strip(tokens([1, 2, 3]).emptied())) == BACKGROUND).all()


@pytest.mark.parametrize(
    ("values", "mask"), [([0, 4], [True, True]), ([-1], [True]), ([0, 1], [True]), ([], [])]
)
def test_tokens_that_make_no_sense_are_refused(values, mask):
    with pytest.raises(RuleSafeError, match="tokens"):
        Tokens(np.array(values, np.int64), np.array(mask, np.bool_), 4, 2.0)
