"""The compiled farthest-point sampling selects the same points as that of rulesafe_core."""

import numpy as np
import pytest

from rulesafe_core import cloud
from rulesafe_core.errors import RuleSafeError
from rulesafe_render.points import farthest_points


def test_the_selection_is_that_of_the_reference(kernel):
    rng = np.random.default_rng(0)
    for reach in (0, 2, 30, 1024) * 5:  # small ranges have equal points and equal distances
        total = int(rng.integers(1, 3000))
        count = int(rng.integers(1, min(total, 500) + 1))
        points = rng.integers(-reach, reach + 1, (total, 3)).astype(np.float32)
        expected = cloud.farthest_points(points, count)
        np.testing.assert_array_equal(farthest_points(points, count, kernel), expected)


@pytest.mark.parametrize("shape, count", [((5, 3), 6), ((5, 3), 0), ((0, 3), 1), ((5, 2), 1)])
def test_points_that_cannot_be_selected_are_refused(shape, count):
    with pytest.raises(RuleSafeError, match=f"cannot select {count} of points"):
        farthest_points(np.zeros(shape, np.float32), count)
