"""The figure of the expert's success and length by rule."""

from math import nan

from PIL import Image

from rulesafe_data.intervals import wilson
from rulesafe_demos.stats import Group
from rulesafe_locks.rules import RULES
from rulesafe_studies import expert_figure


def test_the_figure_has_room_for_every_rule(tmp_path):
    groups = [
        Group(name, 25, i, i / 25, *wilson(i, 25), 150 + 20 * i if i else nan, 0, 0, *[nan] * 4)
        for i, name in enumerate([*RULES, "all"])
    ]
    expert_figure.draw(tmp_path / "expert.png", groups)
    with Image.open(tmp_path / "expert.png") as picture:
        wide, high = picture.size
    assert wide > 1500 > high
