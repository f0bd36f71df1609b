"""The hands as the core sees them: whether they answer, and where the right one's fingers are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from h1_2_bridge.config import BridgeConfig
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import HAND_JOINTS
from rulesafe_core.robot import h1_2

if TYPE_CHECKING:  # the drivers stay out of what only asks how they are
    from h1_2_bridge.hands import HandState


class HandWatch:
    """Knows the hands' last state.

    Args:
        config: of the bridge.
        joints: the driver's 12 joints, in the order of its arrays.

    Attributes:
        velocities: (12,) rad/s, from the last two states; no hand measures them.
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
        """Takes what the driver tells; None: nothing yet."""
        last = self.last
        if state is None:
            return
        if last is not None and state.stamp > last.stamp:
            moved = np.asarray(state.positions) - np.asarray(last.positions)
            self.velocities = moved * (SECOND / (state.stamp - last.stamp))
        self.last = state

    def trouble(self, now: int) -> str:
        """Why the hands cannot be used at `now` (ns); empty if they can."""
        last = self.last
        if last is None:
            return "the hands have not answered yet"
        if last.fault:
            return f"the hands: {last.fault}"
        age = (now - last.stamp) / SECOND
        if age > self._timeout:
            return f"the hands have not answered for {age:.2f} s"
        if not np.isfinite(np.asarray(last.positions)[self._right]).all():
            return "a finger's position is not known"
        return ""

    def check(self, now: int) -> None:
        """Errors: RuleSafeError if they cannot be used."""
        if why := self.trouble(now):
            raise RuleSafeError(why)

    @property
    def fingers(self) -> NDArray[np.float64]:
        """The right hand's joints (6,) where they are measured, rad, order of HAND_JOINTS; NaN
        before the first answer."""
        if self.last is None:
            return np.full(len(self._right), np.nan)
        return np.asarray(self.last.positions, np.float64)[self._right]

    def targets(self, fingers: ArrayLike) -> NDArray[np.float64]:
        """The driver's targets (12,), rad: those of the right hand (6,), NaN for the left hand,
        which stays as it is."""
        targets = np.full(len(self.joints), np.nan)
        targets[self._right] = np.clip(fingers, self._lower, self._upper)
        return targets
