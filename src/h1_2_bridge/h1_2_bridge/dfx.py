"""Inspire DFX hands: the manufacturer's service drives them over two topics for both hands.

/inspire/cmd (unitree_go/MotorCmds) and /inspire/state (unitree_go/MotorStates), twelve entries.
The service uses `q` alone; speed and force are what it sets itself, so that how fast a finger
moves is the bridge's doing: its targets move no faster than `hand_speed` allows.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.hands import DRIVER_JOINTS, FINGERS, Calibration, HandState
from h1_2_bridge.wire import MotorCmds, decode_motor_states, encode_motor_cmds
from rulesafe_core.errors import RuleSafeError

ENTRIES = 2 * FINGERS
"""The right hand's six, then the left one's."""


class DfxHands:
    """See hands.HandDriver.

    Args:
        right, left: calibrations.
        timeout: s without a state after which the hands are at fault.
        publish: publishes a raw MotorCmds on /inspire/cmd.
    """

    joints = DRIVER_JOINTS

    def __init__(
        self,
        right: Calibration,
        left: Calibration,
        timeout: float,
        publish: Callable[[bytes], None],
    ) -> None:
        self._right, self._left, self._timeout, self._publish = right, left, timeout, publish
        self._told = np.full(ENTRIES, np.nan)  # shares, 0 closed .. 1 open
        self._seen = np.full(ENTRIES, np.nan)
        self._stamp: int | None = None

    def command(self, positions: NDArray, now: int) -> None:
        """A message has all twelve: a finger that is left as it is gets what it was last told, else
        where it stands; before that is known nothing is sent."""
        positions = np.asarray(positions, np.float64)
        told = np.concatenate(
            [self._right.to_hand(positions[:FINGERS]), self._left.to_hand(positions[FINGERS:])]
        )
        for known in (self._told, np.clip(self._seen, 0, 1)):
            told = np.where(np.isnan(told), known, told)
        if np.isnan(told).any():
            return
        self._told = told
        zeros = np.zeros(ENTRIES, np.float32)
        self._publish(
            encode_motor_cmds(
                MotorCmds(
                    mode=np.ones(ENTRIES, np.uint8),
                    q=told.astype(np.float32),
                    dq=zeros,
                    tau=zeros,
                    kp=zeros,
                    kd=zeros,
                )
            )
        )

    def receive(self, raw: bytes, now: int) -> None:
        """A MotorStates of twelve finite positions. Errors: RuleSafeError for another."""
        shares = decode_motor_states(raw).q.astype(np.float64)
        if len(shares) != ENTRIES or not np.isfinite(shares).all():
            raise RuleSafeError(
                f"/inspire/state has {len(shares)} entries, {np.isfinite(shares).sum()} of them "
                f"finite; valid: {ENTRIES}, the right hand first"
            )
        self._seen, self._stamp = shares, now

    def state(self, now: int) -> HandState | None:
        if self._stamp is None:
            return None
        positions = np.concatenate(
            [
                self._right.from_hand(self._seen[:FINGERS]),
                self._left.from_hand(self._seen[FINGERS:]),
            ]
        )
        age = (now - self._stamp) / 1e9
        fault = f"/inspire/state is silent for {age:.2f} s" if age > self._timeout else ""
        return HandState(positions, self._stamp, fault=fault)

    def close(self) -> None:
        """Nothing to let go of: the topics are the node's."""
