"""A gamepad at Linux's joystick interface: sticks move the hand, buttons are keys of the keyboard.

Numbers of axes and buttons are those of the kernel's driver `xpad` (Xbox controllers and others in
that mode).
"""

import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError

EVENT = struct.Struct("IhBB")
"""Time in ms, value, type, number: `struct js_event` of linux/joystick.h."""

BUTTON, AXIS = 1, 2
"""Types of events; the kernel adds 0x80 to those that report the state at the start."""

LEFT_X, LEFT_Y, LEFT_TRIGGER, RIGHT_X, RIGHT_Y = range(5)
"""Axes; sticks are positive to the right and down."""

D_PAD_X, D_PAD_Y = 6, 7
"""Axes of the directional pad."""

BUTTON_KEYS: Mapping[int, str] = {
    0: " ",  # A
    1: "z",  # B
    2: "1",  # X
    3: "2",  # Y
    4: "3",  # left bumper
    5: "g",  # right bumper
    6: "-",  # back
    7: "+",  # start
}
"""Key by number of the button."""

D_PAD_KEYS: Mapping[tuple[int, int], str] = {
    (D_PAD_X, 1): "t",
    (D_PAD_X, -1): "T",
    (D_PAD_Y, 1): "p",
    (D_PAD_Y, -1): "P",
}
"""Key by axis and direction of the directional pad."""

DEAD_ZONE = 0.15
"""Deflection of a stick, from 0 to 1, below which it counts as centred."""

HELP_TEXT = """\
left stick     forward, back, left, right
right stick    up, down; rotates left, right
left trigger   right stick tilts and rolls
A              close or open the hand
X  Y           to the knob, to the handle
left bumper    to the handle, for the door
right bumper   into the grasp
D-pad > <      turn the held part, and back
D-pad v ^      pull, push the door
B              stop
start  back    faster, slower
"""


class Gamepad:
    """State of a gamepad.

    Args:
        device: its file, such as /dev/input/js0.

    Raises:
        RuleSafeError: the file cannot be opened.
    """

    def __init__(self, device: Path):
        self._device = device
        self._axes: dict[int, float] = {}
        self._rest = b""  # of an event that was read partly
        try:
            self._file = os.open(device, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            raise RuleSafeError(
                f"cannot open the gamepad {device}: {error.strerror}; gamepads are the files "
                "/dev/input/js0, js1, ..., and users of the group `input` may read them"
            ) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def pressed(self) -> Iterator[str]:
        """Read all events, and yield the keys of pressed buttons.

        Raises:
            RuleSafeError: the gamepad was disconnected.
        """
        while data := self._read():
            data = self._rest + data
            end = len(data) - len(data) % EVENT.size
            self._rest = data[end:]
            for _, value, kind, number in EVENT.iter_unpack(data[:end]):
                if kind & AXIS:
                    yield from self._move(number, value / 32767)
                elif kind == BUTTON and value and number in BUTTON_KEYS:
                    yield BUTTON_KEYS[number]

    def _read(self) -> bytes:
        try:
            data = os.read(self._file, 64 * EVENT.size)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise RuleSafeError(f"the gamepad {self._device}: {error.strerror}") from error
        if not data:
            raise RuleSafeError(f"the gamepad {self._device} was disconnected")
        return data

    def _move(self, axis: int, value: float) -> Iterator[str]:
        before, self._axes[axis] = self._axes.get(axis, 0.0), value
        key = D_PAD_KEYS.get((axis, round(value)))
        if key and round(value) != round(before):
            yield key

    def motion(self) -> NDArray[np.float64]:
        """Return the commanded motion (6,), each -1 to 1: along, then about the directions forward,
        left and up."""
        left_x, left_y, right_x, right_y = (
            self._deflection(axis) for axis in (LEFT_X, LEFT_Y, RIGHT_X, RIGHT_Y)
        )
        if self._axes.get(LEFT_TRIGGER, 0.0) > 0.2:
            return np.array([-left_y, -left_x, 0.0, right_x, right_y, 0.0])
        return np.array([-left_y, -left_x, -right_y, 0.0, 0.0, -right_x])

    def _deflection(self, axis: int) -> float:
        value = self._axes.get(axis, 0.0)
        return float(np.sign(value) * max(0.0, abs(value) - DEAD_ZONE) / (1 - DEAD_ZONE))
