"""Driver of Inspire DFX hands through the topics of the manufacturer's hand service.

/inspire/cmd (unitree_go/MotorCmds) and /inspire/state (unitree_go/MotorStates) have twelve entries.
The service uses only `q` and sets speed and force itself. The bridge therefore limits the velocity
of the fingers through its targets, see `hand_speed`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.hands import DRIVER_JOINTS, FINGERS, Calibration, HandState
from h1_2_bridge.wire import MotorCmds, decode_motor_states, encode_motor_cmds
from rulesafe_core.errors import RuleSafeError

ENTRIES = 2 * FINGERS
"""Number of motors of both hands, right hand first."""

COMMAND_AGE = 500_000_000
"""Time without a command, ns, after which the fingers may have been moved by something else."""


class DfxHands:
    """Implements hands.HandDriver.

    Args:
        right, left: calibrations.
        timeout: time without a state after which the hand has a fault, s.
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
        self._commanded = np.full(ENTRIES, np.nan)  # hand units, 0 closed .. 1 open
        self._commanded_time = 0  # ns
        self._measured = np.full(ENTRIES, np.nan)
        self._stamp: int | None = None

    def command(self, positions: NDArray, now: int) -> None:
        """Publish joint targets (12,), rad. Since a message always has twelve entries, NaN is
        replaced by the last command, or by the measured position if there was none for
        COMMAND_AGE; without either nothing is published."""
        positions = np.asarray(positions, np.float64)
        commanded = np.concatenate(
            [self._right.to_hand(positions[:FINGERS]), self._left.to_hand(positions[FINGERS:])]
        )
        if now - self._commanded_time > COMMAND_AGE:  # the fingers may have moved since
            self._commanded = np.full(ENTRIES, np.nan)
        for known in (self._commanded, np.clip(self._measured, 0, 1)):
            commanded = np.where(np.isnan(commanded), known, commanded)
        if np.isnan(commanded).any():
            return
        self._commanded, self._commanded_time = commanded, now
        zeros = np.zeros(ENTRIES, np.float32)
        self._publish(
            encode_motor_cmds(
                MotorCmds(
                    mode=np.ones(ENTRIES, np.uint8),
                    q=commanded.astype(np.float32),
                    dq=zeros,
                    tau=zeros,
                    kp=zeros,
                    kd=zeros,
                )
            )
        )

    def receive(self, raw: bytes, now: int) -> None:
        """Store a MotorStates message. Raises RuleSafeError unless it has 12 finite positions."""
        shares = decode_motor_states(raw).q.astype(np.float64)
        if len(shares) != ENTRIES or not np.isfinite(shares).all():
            raise RuleSafeError(
                f"/inspire/state has {len(shares)} entries, {np.isfinite(shares).sum()} of them "
                f"finite; valid: {ENTRIES} finite entries, right hand first"
            )
        self._measured, self._stamp = shares, now

    def state(self, now: int) -> HandState | None:
        if self._stamp is None:
            return None
        positions = np.concatenate(
            [
                self._right.from_hand(self._measured[:FINGERS]),
                self._left.from_hand(self._measured[FINGERS:]),
            ]
        )
        age = (now - self._stamp) / 1e9
        fault = f"no message on /inspire/state for {age:.2f} s" if age > self._timeout else ""
        return HandState(positions, self._stamp, fault=fault)

    def close(self) -> None:
        """Do nothing: the node owns the topics."""
