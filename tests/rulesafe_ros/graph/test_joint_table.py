"""Test that the table of action joints in docs/interface.md matches the robot's description."""

import re
from pathlib import Path

import numpy as np
import pytest

from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.robot import HOME, h1_2

DOCS = (Path(__file__).parents[3] / "docs/interface.md").read_text("utf-8")
ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|").split("|")]
    for line in DOCS.split("## The arm's joints")[1].split("\n## ")[0].splitlines()
    if re.match(r"\| \d", line)
]
WAYS = {
    "forward": (1, 0, 0),
    "back": (-1, 0, 0),
    "left": (0, 1, 0),
    "right": (0, -1, 0),
    "down": (0, 0, -1),
}
STEP = 0.2


def test_order_limits_and_home():
    body = h1_2()
    expected = []
    for place, name in enumerate(ACTION_JOINTS):
        joint = body.joint(name)
        limits = f"{joint.lower:g} to {joint.upper:g}"
        expected.append([str(place), name, limits, f"{HOME[name]:g}"])
    assert [[*row[:3], row[4]] for row in ROWS] == expected


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_directions(row):
    """With all other joints at 0, the named part moves further in that direction than any other."""
    name, moves = row[1], row[3]
    part, way = moves.partition(":")[0].split()
    finger = name.split("_")[1] if name.startswith("R_") else "index"
    link = {"hand": "R_hand_base_link", "thumb": "R_thumb_distal"}.get(
        part, f"R_{finger}_intermediate"
    )
    before, after = (h1_2().link_poses({name: angle})[link][:3, 3] for angle in (0.0, STEP))
    moved = after - before
    assert np.abs(moved).max() > 0.004
    assert moved @ np.array(WAYS[way]) == np.abs(moved).max()
