"""What the keys command."""

import numpy as np
import pytest

from planner_node.hand import HAND_AXES
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import about_axis, from_parts
from teleop_node.inputs import AssistRequest, parse_request
from teleop_node.keys import (
    HELP_TEXT,
    KEYS,
    LEAD,
    REQUESTS,
    SHIFTS,
    STEPS,
    TURNS,
    KeyboardControl,
    Situation,
    describe,
)
from teleop_node.tracking import at_pinch_point, difference

HAND = at_pinch_point(about_axis((0, 0, 1), 0.3)[:3, :3], np.array([0.3, -0.2, 0.1]))
# In front of the robot: x out of the door, towards the robot; turned by 0.2 rad.
SAFE = from_parts(about_axis((0, 0, 1), np.pi + 0.2)[:3, :3], (0.6, -0.3, 0.3))


def shift_of(key: str, control: KeyboardControl, situation: Situation):
    return difference(HAND, control.target(key, situation, 0.0))


def test_keys_move_in_the_frame_of_the_safe():
    """Forward is into the door, left and up as seen by the robot, of equal length."""
    length, _ = STEPS[2]
    forward, left = SAFE[:3, :3] @ (-1, 0, 0), SAFE[:3, :3] @ (0, -1, 0)
    assert forward[0] > 0.9 and left[1] > 0.9
    expected = {"w": forward, "s": -forward, "a": left, "d": -left}
    expected |= {"e": np.array([0, 0, 1]), "q": np.array([0, 0, -1])}
    for key, direction in expected.items():
        shift, turn = shift_of(key, KeyboardControl(), Situation(HAND, SAFE))
        np.testing.assert_allclose(shift, length * direction, atol=1e-9)
        np.testing.assert_allclose(turn, 0, atol=1e-7)


@pytest.mark.parametrize(
    ("frame", "forward"), [("pelvis", (1, 0, 0)), ("hand", HAND[:3, :3] @ HAND_AXES[:, 0])]
)
def test_the_frame_can_be_chosen(frame, forward):
    control = KeyboardControl()
    while control.frame != frame:
        assert control.adjust("c")
    shift, _ = shift_of("w", control, Situation(HAND, SAFE))
    np.testing.assert_allclose(shift, STEPS[2][0] * np.array(forward), atol=1e-9)


def test_rotations_keep_the_pinch_point_and_opposite_keys_cancel():
    for first, second in ("ik", "jl", "uo"):
        control = KeyboardControl()
        shift, turn = shift_of(first, control, Situation(HAND, SAFE))
        np.testing.assert_allclose(shift, 0, atol=1e-9)
        assert np.linalg.norm(turn) == pytest.approx(np.radians(STEPS[2][1]))
        back = control.target(second, Situation(HAND, SAFE), 0.1)
        np.testing.assert_allclose(back, HAND, atol=1e-9)


def test_the_fingers_point_up_after_their_key():
    """The fingers of a hand that points forward."""
    pose = at_pinch_point(np.eye(3), np.zeros(3))
    forward = pose[:3, :3] @ (1, 0, 0)
    turned = KeyboardControl().target("i", Situation(pose), 0.0)
    assert (turned[:3, :3] @ (1, 0, 0))[2] > forward[2]


def test_a_held_key_continues_from_its_target_but_not_far_ahead():
    control, situation = KeyboardControl(), Situation(HAND, SAFE)
    for press in range(40):
        target = control.target("w", situation, 0.03 * press)
    shift, _ = difference(HAND, target)
    assert np.linalg.norm(shift) == pytest.approx(LEAD)
    later = control.target("w", situation, 10.0)
    assert np.linalg.norm(difference(HAND, later)[0]) == pytest.approx(STEPS[2][0])


def test_step_sizes_are_limited():
    control = KeyboardControl()
    for _ in range(9):
        control.adjust("+")
    assert control.step == len(STEPS) - 1
    for _ in range(9):
        control.adjust("-")
    assert control.step == 0


def test_keys_do_not_move_the_hand_during_an_assisted_motion():
    assert KeyboardControl().target("w", Situation(HAND, SAFE, assisted=True), 0.0) is None


def test_the_grip_toggles_from_the_state_of_the_hand():
    control = KeyboardControl()
    assert control.toggle_grip(closed=True) == 0.0
    assert control.toggle_grip(closed=True) == 1.0
    assert control.toggle_grip(closed=False) == 0.0


def test_every_key_is_explained_and_unique():
    for key in {*SHIFTS, *TURNS, *REQUESTS} | set("+-chx"):
        assert f" {key} " in f" {HELP_TEXT} ".replace("\n", " "), key
    assert not set(SHIFTS) & set(TURNS) | set(SHIFTS) & set(REQUESTS) | set(TURNS) & set(REQUESTS)
    assert KEYS["\x1b[A"] == "w"


def test_the_position_is_described_from_the_robot_s_point_of_view():
    pose = at_pinch_point(np.eye(3), SAFE[:3, 3] + SAFE[:3, :3] @ (0.05, -0.02, 0.01))
    assert describe(pose, SAFE) == "5.0 cm from the door, +2.0 left, +1.0 up"
    assert describe(HAND, None) == "pelvis x +30.0 y -20.0 z +10.0 cm"


def test_requests_are_parsed():
    assert all(parse_request(text) for text in REQUESTS.values())
    assert parse_request("turn -15") == AssistRequest(
        "turn", angle=pytest.approx(-0.2618, abs=1e-4)
    )
    assert str(parse_request("approach knob")) == "approach knob"


@pytest.mark.parametrize(
    "text",
    ["", "turn", "turn x", "turn nan", "turn 0", "turn 400", "approach lid", "stop now", "?"],
)
def test_invalid_requests_are_refused(text):
    with pytest.raises(RuleSafeError, match=r"valid: approach knob\|handle|must be up to 60 deg"):
        parse_request(text)
