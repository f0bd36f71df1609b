"""Check for the core whether the hands respond, and provide the right hand's finger positions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from h1_2_bridge.config import BridgeConfig
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import HAND_JOINTS
from rulesafe_core.robot import h1_2

if TYPE_CHECKING:  # the core does not import the drivers
    from h1_2_bridge.hands import HandState


class HandWatch:
    """Stores the last hand state and checks it.

    Args:
        config: configuration of the bridge.
        joints: the driver's 12 joints, in the order of its arrays.

    Attributes:
        velocities: (12,) rad/s, computed from the last two states since no hand measures them.
        last: the last state; None before the first.
    """

    def __init__(self, config: BridgeConfig, joints: Sequence[str]) -> None:
        self._timeout = config.hand_timeout
        self.joints = tuple(joints)
        self.velocities = np.zeros(len(self.joints))
        self._right = [self.joints.index(name) for name in HAND_JOINTS]
        fingers = [h1_2().joint(name) for name in HAND_JOINTS]
        self._lower = np.array([joint.lower for joint in fingers])
        self._upper = np.array([joint.upper for joint in fingers])
        self.last: HandState | None = None

    def receive(self, state: "HandState | None") -> None:
        """Store a state of the driver; None is ignored."""
        last = self.last
        if state is None:
            return
        if last is not None and state.stamp > last.stamp:
            moved = np.asarray(state.positions) - np.asarray(last.positions)
            self.velocities = moved * (SECOND / (state.stamp - last.stamp))
        self.last = state

    def trouble(self, now: int) -> str:
        """Return why the hands cannot be used at `now` (ns); empty if they can."""
        last = self.last
        if last is None:
            return "no state received from the hands yet"
        if last.fault:
            return f"hand fault: {last.fault}"
        age = (now - last.stamp) / SECOND
        if age > self._timeout:
            return f"no state received from the hands for {age:.2f} s"
        if not np.isfinite(np.asarray(last.positions)[self._right]).all():
            return "a finger position of the right hand is unknown (NaN)"
        return ""

    def check(self, now: int) -> None:
        """Raise RuleSafeError if the hands cannot be used."""
        if reason := self.trouble(now):
            raise RuleSafeError(reason)

    @property
    def fingers(self) -> NDArray[np.float64]:
        """Measured positions of the right hand (6,), rad, in the order of HAND_JOINTS; NaN before
        the first state."""
        if self.last is None:
            return np.full(len(self._right), np.nan)
        return np.asarray(self.last.positions, np.float64)[self._right]

    def targets(self, fingers: ArrayLike) -> NDArray[np.float64]:
        """Return driver targets (12,), rad, for right-hand positions (6,); the left hand gets NaN
        and holds its position."""
        targets = np.full(len(self.joints), np.nan)
        targets[self._right] = np.clip(fingers, self._lower, self._upper)
        return targets
