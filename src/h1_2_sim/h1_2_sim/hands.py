"""Two Inspire DFX hands as their driver shows them: q from 0 (closed) to 1 (open), right hand
first. No ROS and no simulation here.

The figures are those of the manufacturer's teleoperation (xr_teleoperate: fingers 0 to 1.7 rad,
thumb bend 0 to 0.5, thumb rotation -0.1 to 1.3), copied here and not taken from the bridge's
calibration: if that were wrong, it would show.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.wire import MotorStates, decode_motor_cmds, encode_motor_states
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import HAND_JOINTS, LEFT_HAND_JOINTS
from rulesafe_core.robot import h1_2

FINGERS = len(HAND_JOINTS)

ENTRIES = 2 * FINGERS
"""The right hand's six motors, then the left one's."""

Array = NDArray[np.float64]

_JOINTS = [h1_2().joint(name) for name in HAND_JOINTS + LEFT_HAND_JOINTS]
_OPEN = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, -0.1], 2)  # (12,) rad
_CLOSED = np.tile([1.7, 1.7, 1.7, 1.7, 0.5, 1.3], 2)  # (12,) rad
_VELOCITY = np.array([joint.velocity for joint in _JOINTS])  # (12,) rad/s


def to_radians(q: Array) -> Array:
    """Joint positions (12,), rad, of the driver's q (12,)."""
    return _CLOSED - np.clip(q, 0.0, 1.0) * (_CLOSED - _OPEN)


def from_radians(positions: Array) -> Array:
    """The driver's q (12,) of joint positions (12,), rad."""
    return np.clip((_CLOSED - positions) / (_CLOSED - _OPEN), 0.0, 1.0)


class Hands:
    """What the hands do with the commands that reach them.

    Args:
        positions: (12,) rad, right hand first: where they begin.

    `counts`: commands "accepted", and those refused by reason: "size", "entries", "not finite".
    """

    def __init__(self, positions: Array) -> None:
        self.counts: Counter[str] = Counter()
        self.reset(positions)

    def reset(self, positions: Array) -> None:
        """The hands stand at `positions` (12,), rad, and stay there until they are told."""
        self._goal = np.array(positions, np.float64)
        self._command = self._goal.copy()

    def receive(self, raw: bytes) -> None:
        """Takes a command, or refuses it and goes on with the last one."""
        try:
            commands = decode_motor_cmds(raw)
        except RuleSafeError:
            self.counts["size"] += 1
            return
        if len(commands.q) != ENTRIES:
            self.counts["entries"] += 1
        elif not np.isfinite(commands.q).all():
            self.counts["not finite"] += 1
        else:
            self.counts["accepted"] += 1
            self._goal = to_radians(commands.q.astype(np.float64))

    def targets(self, seconds: float) -> Array:
        """Where the fingers' own controllers steer (12,), rad, `seconds` after the last call: to
        what was told, as fast as the fingers can."""
        reach = _VELOCITY * seconds
        self._command = self._command + np.clip(self._goal - self._command, -reach, reach)
        return self._command


def hand_states(positions: Array, velocities: Array) -> bytes:
    """The driver's message for positions and velocities (12,), rad and rad/s."""
    zeros = np.zeros(ENTRIES, np.float32)
    return encode_motor_states(
        MotorStates(
            mode=np.ones(ENTRIES, np.uint8),
            q=from_radians(positions).astype(np.float32),
            dq=(-velocities / (_CLOSED - _OPEN)).astype(np.float32),
            tau=zeros,
            temperature=np.full(ENTRIES, 35, np.uint8),
            lost=np.zeros(ENTRIES, np.uint32),
        )
    )
