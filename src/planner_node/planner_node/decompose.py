"""Write the task program that carries out a plan of events; tasks.py has the calls it uses."""

from collections.abc import Iterable

import numpy as np

from rulesafe_core.errors import unknown_name
from rulesafe_locks.locks import EVENTS
from rulesafe_sim.safe import Safe

_TURN = """\
# Step {number}: {verb} the {part}, {sense}
planner.hand_pre_pinch("right")
constraints = planner.generate_constraints(obj_name="safe", target_link="{part}")
_, pose = planner.generate_end_effector_pose(constraints, hand_name="right")
planner.move_to_pose(pose)
planner.hand_pinch("right", pinch_object="safe")
planner.rotate_hand(hand="right", angle={angle})
"""

_PULL = """\
# Step {number}: pull the door open by the handle
planner.hand_pre_pinch("right")
constraints = planner.generate_constraints(
    obj_name="safe", target_link="handle", state_link="door", openness=0
)
_, pose = planner.generate_end_effector_pose(constraints, hand_name="right")
planner.move_to_pose(pose)
planner.hand_pinch("right", pinch_object="safe")
constraints = planner.generate_constraints(
    obj_name="safe", target_link="handle", state_link="door", openness=1
)
_, pose = planner.generate_end_effector_pose(constraints, hand_name="right")
planner.move_to_pose(pose)
"""


def decompose(plan: Iterable[str], safe: Safe) -> str:
    """Return a task program with one step for each event of a plan such as ["knob+", "door+"].

    Angles (deg) and directions of rotation are taken from the safe.

    Raises:
        RuleSafeError: for an unknown event, and for "door-", which no lock requires.
    """
    return "\n".join(_step(number, event, safe) for number, event in enumerate(plan, 1))


def _step(number: int, event: str, safe: Safe) -> str:
    doable = [name for name in EVENTS if name != "door-"]
    if event not in doable:
        raise unknown_name("event", event, doable)
    part, opens = event[:-1], event.endswith("+")
    if part == "door":
        return _PULL.format(number=number)
    turner = safe.turners[part]
    sign = turner.opening_sign * (1 if opens else -1)
    return _TURN.format(
        number=number,
        verb="open" if opens else "close",
        part=part,
        sense="clockwise" if sign > 0 else "counterclockwise",
        angle=f"{sign * np.degrees(turner.range):g}",
    )
