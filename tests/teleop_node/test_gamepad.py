"""What sticks and buttons of a gamepad command."""

import os

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import about_axis, from_parts
from teleop_node.gamepad import (
    AXIS,
    BUTTON,
    BUTTON_KEYS,
    D_PAD_KEYS,
    D_PAD_X,
    D_PAD_Y,
    EVENT,
    LEFT_TRIGGER,
    LEFT_X,
    LEFT_Y,
    RIGHT_X,
    RIGHT_Y,
    Gamepad,
)
from teleop_node.keys import KEYS, STEPS, KeyboardControl, Situation

FORWARD, LEFT, UP, ROLL, PITCH, YAW = np.eye(6)
AT_START = 0x80


class Device:
    """A gamepad, and the end at which the kernel writes its events."""

    def __init__(self, path) -> None:
        os.mkfifo(path)
        self.pad = Gamepad(path)
        self.file = os.open(path, os.O_WRONLY)

    def send(self, *events: tuple[int, int, int]) -> list[str]:
        """Write events (type, number, value) and return the keys."""
        os.write(self.file, b"".join(EVENT.pack(7, value, kind, n) for kind, n, value in events))
        return list(self.pad.pressed())

    def disconnect(self) -> None:
        if self.file >= 0:
            os.close(self.file)
            self.file = -1


@pytest.fixture
def device(tmp_path):
    device = Device(tmp_path / "js0")
    yield device
    device.disconnect()
    device.pad.close()


@pytest.mark.parametrize(
    ("axis", "value", "motion"),
    [
        (LEFT_Y, -32767, FORWARD),
        (LEFT_X, -32767, LEFT),
        (RIGHT_Y, -32767, UP),
        (RIGHT_X, -32767, YAW),
        (RIGHT_X, 32767, -YAW),
    ],
)
def test_sticks_move_and_rotate_the_hand(device, axis, value, motion):
    assert device.send((AXIS, axis, value)) == []
    assert device.pad.motion() == pytest.approx(motion)
    device.send((AXIS, axis, value // 10))
    assert not device.pad.motion().any()


def test_with_the_left_trigger_the_right_stick_tilts_as_the_keys_do(device):
    device.send((AXIS, LEFT_TRIGGER, 32767), (AXIS, RIGHT_Y, -32767))
    assert device.pad.motion() == pytest.approx(-PITCH)  # fingers up, as i
    device.send((AXIS, RIGHT_Y, 0), (AXIS, RIGHT_X, -32767))
    assert device.pad.motion() == pytest.approx(-ROLL)  # counterclockwise, as u
    device.send((AXIS, LEFT_TRIGGER, -32767))
    assert device.pad.motion() == pytest.approx(YAW)


def test_buttons_are_keys_once_per_press(device):
    assert set(BUTTON_KEYS.values()) | set(D_PAD_KEYS.values()) <= set(KEYS)
    at_start = [(BUTTON | AT_START, 0, 0), (AXIS | AT_START, LEFT_TRIGGER, -32767)]
    assert device.send(*at_start) == []
    assert device.send((BUTTON, 0, 1), (BUTTON, 0, 0), (BUTTON, 5, 1), (BUTTON, 99, 1)) == [
        " ",
        "g",
    ]
    moves = [(D_PAD_X, 32767), (D_PAD_X, 0), (D_PAD_Y, -32767), (D_PAD_Y, 32767)]
    assert device.send(*[(AXIS, axis, value) for axis, value in moves]) == ["t", "P", "p"]


def test_an_event_that_is_read_in_two_parts_is_one(device):
    event = EVENT.pack(7, 1, BUTTON, 0)
    os.write(device.file, event[:3])
    assert list(device.pad.pressed()) == []
    os.write(device.file, event[3:])
    assert list(device.pad.pressed()) == [" "]


def test_a_missing_and_a_disconnected_gamepad_are_errors(device, tmp_path):
    with pytest.raises(RuleSafeError, match=r"cannot open the gamepad .*js9: No such file"):
        Gamepad(tmp_path / "js9")
    device.disconnect()
    with pytest.raises(RuleSafeError, match="js0 was disconnected"):
        list(device.pad.pressed())


def test_the_velocity_follows_frame_and_step_size():
    hand = np.eye(4)
    safe = from_parts(about_axis((0, 0, 1), np.pi + 0.2)[:3, :3], (0.6, -0.3, 0.3))
    control = KeyboardControl()
    linear, angular = control.velocity(FORWARD, Situation(hand, safe))
    assert linear == pytest.approx(-10 * STEPS[2][0] * safe[:3, 0])  # towards the door
    assert not angular.any()
    control.adjust("+")
    control.adjust("c")  # the frame pelvis
    linear, angular = control.velocity(0.5 * YAW, Situation(hand, safe))
    assert angular == pytest.approx((0, 0, 5 * np.radians(STEPS[3][1])))
