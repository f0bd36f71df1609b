"""What the robot received last on the command topic, from any publisher; does not import ROS.

The bridge subscribes to its own command topic, on which it may receive its own messages, too. A
message is from another program, the supervisor or an intruder, if the bridge does not receive its
own ones, if its CRC is not that of a recent command of the bridge, or if it is received more often
than it was sent.
"""

import numpy as np

from h1_2_bridge.motors import WEIGHT_SLOT
from h1_2_bridge.wire import decode_low_cmd
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError

OWN = 2048
"""Number of own commands whose CRCs are stored: at least 8 s at 250 Hz."""

RECENT = SECOND
"""Time (ns) after a command of another publisher during which the bridge refuses to engage."""


class CommandTopic:
    """Stores the newest valid command on the topic and its origin.

    Args:
        own: whether the bridge receives its own commands, too (`network.receives_own`).

    Attributes:
        weight: weight of the newest valid command; 0 before the first.
        foreign: whether another program published that command.
        foreign_time: ns, when the last command of another program was received; None: never.
    """

    def __init__(self, own: bool = True) -> None:
        self._receives_own = own
        self._own: dict[bytes, int] = {}  # how often each CRC was sent and not yet received back
        self.weight, self.foreign = 0.0, False
        self.foreign_time: int | None = None

    def sent(self, raw: bytes, weight: float) -> None:
        """Store a command that the bridge has just published."""
        if self._receives_own:
            crc = raw[-4:]
            self._own[crc] = self._own.pop(crc, 0) + 1
            if len(self._own) > OWN:
                del self._own[next(iter(self._own))]
        self.weight, self.foreign = weight, False

    def receive(self, raw: bytes, now: int) -> bool:
        """Process a message of the topic and return whether another program published it. The
        robot ignores invalid messages, and so does this method."""
        crc = bytes(raw[-4:])
        if crc in self._own:  # each own command comes back once: a copy is from another program
            self._own[crc] -= 1
            if not self._own[crc]:
                del self._own[crc]
            return False
        try:
            command = decode_low_cmd(raw)
        except RuleSafeError:
            return False
        if not command.valid:
            return False
        weight = float(command.q[WEIGHT_SLOT])
        self.weight = float(np.clip(weight, 0, 1)) if np.isfinite(weight) else 0.0
        self.foreign, self.foreign_time = True, now
        return True

    def busy(self, now: int) -> bool:
        """Return whether another program published within RECENT."""
        return self.foreign_time is not None and now - self.foreign_time < RECENT

    def refusal(self, now: int) -> str:
        """Return why the bridge must not begin to publish; empty if it may."""
        if self.busy(now):
            return (
                "another program publishes commands to the robot (the supervisor after a gap of "
                "the bridge, or another controller): wait until it has ended, or end it"
            )
        if self.foreign and self.weight > 0:
            return (
                f"the last command to the robot has weight {self.weight:.2f} and is not from this "
                "bridge: ramp it down with the program that published it, or use the remote"
            )
        return ""
