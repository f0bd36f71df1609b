"""Between the core, which decides, and a driver of the hands, which talks to them. No ROS."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.core import BridgeCore, Sent
from h1_2_bridge.hands import HandDriver
from rulesafe_core.chunks import SECOND

PERIOD = SECOND // 100
"""Targets go to the hands this often, ns."""


@dataclass
class HandPort:
    """One driver; its state goes to the core, the core's targets to it.

    Attributes:
        driver: the hands.
        show: called with the targets (12,), rad, instead of the driver: a dry run. None: no dry
            run.
    """

    driver: HandDriver
    show: Callable[[NDArray[np.float64]], None] | None = None

    def __post_init__(self) -> None:
        self._targets: NDArray[np.float64] | None = None
        self._due = 0  # ns

    @property
    def joints(self) -> Sequence[str]:
        """The driver's 12 joints."""
        return self.driver.joints

    def take(self, sent: Sent) -> None:
        """Keeps the newest targets for the next turn."""
        if sent.hand is not None:
            self._targets = sent.hand

    def turn(self, core: BridgeCore, now: int) -> None:
        """Once in PERIOD: the hands' state to the core, and targets, if there are new ones, to
        the hands. `now`: the steady clock's ns."""
        if now < self._due:
            return
        self._due = now + PERIOD
        if core.hand is not None:
            core.hand.receive(self.driver.state(now))
        targets, self._targets = self._targets, None
        if targets is None:
            return
        if self.show is not None:
            self.show(targets)
        else:
            self.driver.command(targets, now)
