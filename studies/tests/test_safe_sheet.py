"""The sheet of the ten safes."""

import numpy as np

from rulesafe_studies.safe_sheet import images


def test_open_parts_and_the_open_door_are_shown():
    closed, parts, door = (each.astype(int) for each in images("safe_01", 60))
    assert closed.shape == (60, 60, 3)
    assert 0.3 < np.abs(closed - parts).mean() < np.abs(closed - door).mean()
