"""Simulated pair of Inspire DFX hands with the units of their driver: q from 0 (closed) to 1
(open), right hand first. This module imports neither ROS nor the simulation.

Joint ranges are those of the manufacturer's teleoperation (xr_teleoperate: fingers 0 to 1.7 rad,
thumb bend 0 to 0.5, thumb rotation -0.1 to 1.3). They are copied instead of imported from the
bridge's calibration, so that tests detect an error there.
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
"""Number of motors of both hands, right hand first."""

Array = NDArray[np.float64]

_JOINTS = [h1_2().joint(name) for name in HAND_JOINTS + LEFT_HAND_JOINTS]
_OPEN = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, -0.1], 2)  # (12,) rad
_CLOSED = np.tile([1.7, 1.7, 1.7, 1.7, 0.5, 1.3], 2)  # (12,) rad
_VELOCITY = np.array([joint.velocity for joint in _JOINTS])  # (12,) rad/s


def to_radians(q: Array) -> Array:
    """Convert the driver's q (12,) to joint positions (12,), rad."""
    return _CLOSED - np.clip(q, 0.0, 1.0) * (_CLOSED - _OPEN)


def from_radians(positions: Array) -> Array:
    """Convert joint positions (12,), rad, to the driver's q (12,)."""
    return np.clip((_CLOSED - positions) / (_CLOSED - _OPEN), 0.0, 1.0)


class Hands:
    """Executes the commands to both hands.

    Args:
        positions: initial positions (12,), rad, right hand first.

    Attributes:
        counts: number of "accepted" commands, and of refused ones by reason: "size", "entries",
            "not finite".
    """

    def __init__(self, positions: Array) -> None:
        self.counts: Counter[str] = Counter()
        self.reset(positions)

    def reset(self, positions: Array) -> None:
        """Set the hands to `positions` (12,), rad, and hold them until the next command."""
        self._goal = np.array(positions, np.float64)
        self._command = self._goal.copy()

    def receive(self, raw: bytes) -> None:
        """Accept a command, or refuse it and continue with the last one."""
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
        """Return the finger controllers' targets (12,), rad, `seconds` after the last call. They
        move towards the command at the fingers' largest velocity."""
        step = _VELOCITY * seconds
        self._command = self._command + np.clip(self._goal - self._command, -step, step)
        return self._command


def hand_states(positions: Array, velocities: Array) -> bytes:
    """Encode positions and velocities (12,), rad and rad/s, as a message of the driver."""
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
