"""Keys of the keyboard teleoperation, and what each of them commands."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner_node.hand import HAND_AXES
from rulesafe_core.transforms import Transform
from teleop_node.tracking import difference, moved, pinch_point

FORWARD, LEFT, UP = np.eye(3)

SHIFTS: Mapping[str, NDArray[np.float64]] = {
    "w": FORWARD,
    "s": -FORWARD,
    "a": LEFT,
    "d": -LEFT,
    "e": UP,
    "q": -UP,
}
"""Direction of the pinch point by key: forward, left and up of the selected frame."""

TURNS: Mapping[str, NDArray[np.float64]] = {
    "i": -LEFT,
    "k": LEFT,
    "j": UP,
    "l": -UP,
    "u": -FORWARD,
    "o": FORWARD,
}
"""Axis of the rotation about the pinch point by key: fingers up, left, or counterclockwise."""

REQUESTS: Mapping[str, str] = {
    "1": "approach knob",
    "2": "approach handle",
    "3": "approach door",
    "g": "grasp",
    "t": "turn 15",
    "T": "turn -15",
    "p": "pull 5",
    "P": "pull -5",
    "z": "stop",
}
"""Requests of assisted motions by key."""

STEPS = ((0.002, 1.0), (0.005, 2.5), (0.01, 5.0), (0.02, 10.0), (0.05, 20.0))
"""Selectable step sizes: m and deg."""

FRAMES = ("safe", "pelvis", "hand")
GRIP, FRAME, LARGER, SMALLER, HELP, QUIT = " ", "c", "+", "-", "h", "x"
COMMANDS = (GRIP, FRAME, LARGER, "=", SMALLER, HELP, QUIT)
KEYS = {key: key for key in (*SHIFTS, *TURNS, *REQUESTS, *COMMANDS)}
KEYS |= {"\x1b[A": "w", "\x1b[B": "s", "\x1b[D": "a", "\x1b[C": "d"}
"""Keys by the characters that a terminal sends; the arrows move as w, s, a and d."""

KEPT_FOR = 0.4
"""Wall time in which a key continues from the last target instead of the hand's pose, s."""

LEAD = 0.06
"""Largest distance of a target from the hand, m, and angle, in rad at LEAD / 0.1."""

HELP_TEXT = """\
w s  a d  e q  forward, left, up, and back
i k  j l  u o  rotate: fingers up, left, roll
space          close or open the hand
1  2           to the knob, to the handle
3              to the handle, for the door
g              into the grasp
t T            turn the held part, and back
p P            pull, push the door
z              stop
+ -            step size
c              frame: safe, pelvis or hand
h  x           help, quit    (arrows: w s a d)
"""


@dataclass(frozen=True)
class Situation:
    """State on which the meaning of a key depends.

    Attributes:
        hand: commanded pose of the hand's base in the pelvis frame.
        safe: pose of the safe in the pelvis frame; None: unknown.
        assisted: whether an assisted motion is executed.
    """

    hand: Transform
    safe: Transform | None = None
    assisted: bool = False


class KeyboardControl:
    """Converts keys to targets.

    Attributes:
        grip: commanded grip, 0 or 1; None until the first key of the hand.
        frame: one of FRAMES, in which the hand moves.
        step: index into STEPS.
    """

    def __init__(self) -> None:
        self.grip: float | None = None
        self.frame = FRAMES[0]
        self.step = 2
        self._target: Transform | None = None
        self._target_at = -np.inf

    def adjust(self, key: str) -> bool:
        """Change the step size or the frame; return whether the key is one for that."""
        if key in (LARGER, "="):
            self.step = min(self.step + 1, len(STEPS) - 1)
        elif key == SMALLER:
            self.step = max(self.step - 1, 0)
        elif key == FRAME:
            self.frame = FRAMES[(FRAMES.index(self.frame) + 1) % len(FRAMES)]
        else:
            return False
        return True

    def target(self, key: str, situation: Situation, now: float) -> Transform | None:
        """Return the target pose of the hand after a key that moves it; None for another key, or
        during an assisted motion.

        Args:
            key: one of SHIFTS or TURNS.
            situation: the present situation.
            now: wall time, s.
        """
        if situation.assisted or (key not in SHIFTS and key not in TURNS):
            return None
        recent = self._target is not None and now - self._target_at < KEPT_FOR
        base = self._target if recent and self._target is not None else situation.hand
        axes = self._axes(situation)
        length, angle = STEPS[self.step]
        none = np.zeros(3)
        shift = length * axes @ SHIFTS[key] if key in SHIFTS else none
        turn = np.radians(angle) * axes @ TURNS[key] if key in TURNS else none
        self._target = _within_lead(situation.hand, moved(base, shift, turn), length)
        self._target_at = now
        return self._target

    def toggle_grip(self, closed: bool) -> float:
        """Close the open hand, or open the closed one; return the grip."""
        self.grip = 0.0 if (closed if self.grip is None else self.grip > 0.5) else 1.0
        return self.grip

    def _axes(self, situation: Situation) -> NDArray[np.float64]:
        """Return the directions forward, left and up as columns (3, 3), in the pelvis frame."""
        if self.frame == "hand":
            return situation.hand[:3, :3] @ HAND_AXES
        if self.frame == "safe" and situation.safe is not None:
            # x points out of the door, towards the robot, and z up.
            return situation.safe[:3, :3] @ np.diag([-1.0, -1.0, 1.0])
        return np.eye(3)


def _within_lead(hand: Transform, target: Transform, step: float) -> Transform:
    """Return the target, moved towards the hand if it is too far ahead of it: after the release of
    a key the hand must not move on for long."""
    shift, turn = difference(hand, target)
    longest = max(LEAD, 1.5 * step)
    far = max(np.linalg.norm(shift) / longest, np.linalg.norm(turn) / (longest / 0.1), 1.0)
    return moved(hand, shift / far, turn / far)


def describe(hand: Transform, safe: Transform | None) -> str:
    """Return the position of the pinch point: in front of the door, to its left and above its
    centre, or, without a safe, in the pelvis frame."""
    point = pinch_point(hand)
    if safe is None:
        return "pelvis x {:+.1f} y {:+.1f} z {:+.1f} cm".format(*100 * point)
    x, y, z = 100 * safe[:3, :3].T @ (point - safe[:3, 3])
    return f"{x:.1f} cm from the door, {-y:+.1f} left, {z:+.1f} up"
