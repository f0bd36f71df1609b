"""Pass hand states and targets between the core and a hand driver; does not import ROS."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.core import BridgeCore, Sent
from h1_2_bridge.hands import HandDriver
from rulesafe_core.chunks import SECOND

PERIOD = SECOND // 100
"""Period of the updates of the hands, ns."""

OLDEST = SECOND // 10
"""Time (ns) between two updates after which stored targets are dropped: the bridge has stalled."""


@dataclass
class HandPort:
    """Passes the state of a hand driver to the core and targets of the core to the driver.

    Attributes:
        driver: driver of the hands.
        show: called with the targets (12,), rad, instead of the driver in a dry run; else None.
    """

    driver: HandDriver
    show: Callable[[NDArray[np.float64]], None] | None = None

    def __post_init__(self) -> None:
        self._targets: NDArray[np.float64] | None = None
        self._due = self._updated = 0  # ns

    @property
    def joints(self) -> Sequence[str]:
        """Names of the driver's 12 joints."""
        return self.driver.joints

    def store(self, sent: Sent) -> None:
        """Store the newest targets for the next update."""
        if sent.hand is not None:
            self._targets = sent.hand

    def update(self, core: BridgeCore, now: int) -> None:
        """Pass the hand state to the core and new targets to the hands, at most once per PERIOD.
        `now`: steady clock, ns."""
        if now < self._due:
            return
        self._due = now + PERIOD
        if core.hand is not None:
            core.hand.receive(self.driver.state(now))
        targets, self._targets = self._targets, None
        late, self._updated = now - self._updated > OLDEST, now
        if targets is None or late:
            return
        if self.show is not None:
            self.show(targets)
        else:
            self.driver.command(targets, now)
