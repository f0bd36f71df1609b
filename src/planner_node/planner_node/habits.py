"""Habits: a fixed pinch and arm posture for each part of each safe.

A part can be grasped in many ways: at several points, from either side, with the elbow high or low.
Which one is cheapest can change with a millimetre, and a policy does not learn from demonstrations
that change with it. With a habit the expert grasps a part with the same pinch each time, in the
posture nearest to a fixed one, so that safes at nearly the same pose are opened in nearly the same
way. It uses another pinch only if that one is out of reach. The study `habits` finds them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from planner_node.expert import ExpertConfig
from planner_node.grasping import Habit
from planner_node.moves import Habits, MoveConfig
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.strict_yaml import read_yaml

HABITS = Path(__file__).parent / "data" / "habits.yaml"

STYLES = ("varied", "habitual", "strict")
"""How the expert grasps parts. varied: the cheapest pinch from the present posture; habitual: the
pinch of the habit, or another if it is out of reach; strict: the pinch of the habit only. A policy
that learns from two pinches of a part moves between the two."""


def style_config(style: str) -> ExpertConfig:
    """Return the expert's configuration for a style. Raises RuleSafeError if it is unknown."""
    if style not in STYLES:
        raise unknown_name("style", style, STYLES)
    if style == "varied":
        return ExpertConfig()
    habits = load_habits()
    if style == "strict":
        habits = {key: replace(habit, only=True) for key, habit in habits.items()}
    return ExpertConfig(moves=MoveConfig(habits=habits))


@cache
def load_habits() -> Habits:
    """Return the habits that come with the package, by situation."""
    return {key: _habit(key, about) for key, about in read_yaml(HABITS).items()}


def _habit(key: str, about: Mapping[str, Sequence[float]]) -> Habit:
    posture = tuple(map(float, about["posture"]))
    if len(posture) != len(ARM_JOINTS):
        raise RuleSafeError(
            f"{HABITS.name}: {key}: posture must be {len(ARM_JOINTS)} joint positions (rad), got "
            f"{posture}"
        )
    if "pinch" not in about:
        return Habit(posture)
    grasp, sense, roll, tilt = about["pinch"]
    return Habit(posture, (int(grasp), int(sense), float(roll), float(tilt)))
