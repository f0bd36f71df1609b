"""The hands behind one interface, whatever they speak: `HandDriver`, chosen by name in DRIVERS.

A driver translates and calibrates, nothing more: what may move, and how fast, the bridge's core has
decided before. Joints are the simulation's, rad, larger is more closed; the hands themselves count
from 0 (closed) to 1 (open), right hand first, slots in the order pinky, ring, middle, index, thumb
bend, thumb rotation.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import HAND_JOINTS, LEFT_HAND_JOINTS

FINGERS = len(HAND_JOINTS)
"""Motors of one hand."""

DRIVER_JOINTS: tuple[str, ...] = HAND_JOINTS + LEFT_HAND_JOINTS
"""The order of all drivers' arrays (12,): the order of the hands' own slots, right hand first."""

Array = NDArray[np.float64]
Six = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class HandState:
    """What both hands last told.

    Attributes:
        positions: (12,) rad, in the driver's order; NaN where not known.
        stamp: ns, when the older of the hands that are used last answered.
        force: (12,) in the hand's own unit (FTP: g), NaN where not known.
        fault: why a hand cannot be used, empty where nothing is wrong.
    """

    positions: Array
    stamp: int
    force: Array = field(default_factory=lambda: np.full(2 * FINGERS, np.nan))
    fault: str = ""


class HandDriver(Protocol):
    """Both hands.

    Attributes:
        joints: 12 names, the order of all arrays.
    """

    joints: tuple[str, ...]

    def command(self, positions: NDArray, now: int) -> None:
        """Joint targets (12,), rad; NaN leaves a finger as it is. Never blocks. `now`: ns."""

    def receive(self, raw: bytes, now: int) -> None:
        """A message of the hands' state topic, where the hands have one. Errors: RuleSafeError for
        one that is not theirs."""

    def state(self, now: int) -> HandState | None:
        """The last state; None before the first."""

    def close(self) -> None:
        """Lets go of connections and threads."""


@dataclass(frozen=True)
class Calibration:
    """Joint positions (6,) of one hand where it counts 1 (open) and 0 (closed), rad."""

    open: Six
    closed: Six

    def __post_init__(self) -> None:
        if len(self.open) != FINGERS or len(self.closed) != FINGERS:
            raise RuleSafeError(f"a hand's calibration takes {FINGERS} numbers each way")
        if not np.all(np.abs(np.subtract(self.closed, self.open)) > 0.05):
            raise RuleSafeError(
                f"a hand's calibration must leave each finger a range of 0.05 rad, got open "
                f"{self.open} and closed {self.closed}"
            )

    def to_hand(self, positions: ArrayLike) -> Array:
        """What the hand is told, (6,) in 0..1, for joint positions (6,); NaN stays NaN."""
        opened, closed = np.array(self.open), np.array(self.closed)
        share = (closed - np.asarray(positions, np.float64)) / (closed - opened)
        return np.clip(share, 0.0, 1.0)

    def from_hand(self, shares: ArrayLike) -> Array:
        """Joint positions (6,), rad, for what the hand tells, (6,)."""
        opened, closed = np.array(self.open), np.array(self.closed)
        return closed - np.asarray(shares, np.float64) * (closed - opened)


DFX = Calibration(open=(0, 0, 0, 0, 0, -0.1), closed=(1.7, 1.7, 1.7, 1.7, 0.5, 1.3))
"""Inspire DFX: (max - q) / (max - min), limits as the manufacturer's teleoperation has them."""

FTP = Calibration(open=(0, 0, 0, 0, 0, 0), closed=(1.4381, 1.4381, 1.4381, 1.4381, 0.5864, 1.1641))
"""Inspire FTP: the limits of the description's FTP hand."""

SIDES = ("right", "left")


@dataclass(frozen=True)
class Registers:
    """Addresses of the FTP hand's Modbus registers, six 16-bit ones from each (its manual)."""

    angle_set: int = 1486
    force_set: int = 1498
    speed_set: int = 1522
    angle_actual: int = 1546
    force_actual: int = 1582


@dataclass(frozen=True)
class HandConfig:
    """What a driver needs to know.

    Attributes:
        right, left: calibrations; None: those of the hand's kind.
        right_host, left_host: addresses of FTP hands; empty: no such hand.
        port, device: Modbus TCP port and unit of FTP hands.
        registers: of FTP hands.
        rate: Hz, how often an FTP hand is asked.
        speed, force: limits of FTP hands, 0..1000 and g, set whenever one is connected.
        patience: s without an answer after which a hand is at fault.
        read_only: nothing is written to FTP hands, their limits neither.
    """

    right: Calibration | None = None
    left: Calibration | None = None
    right_host: str = "192.168.123.211"
    left_host: str = "192.168.123.210"
    port: int = 6000
    device: int = 1
    registers: Registers = Registers()
    rate: float = 50.0
    speed: int = 300
    force: int = 300
    patience: float = 0.3
    read_only: bool = False

    def __post_init__(self) -> None:
        for name, value, low, high in (
            ("rate", self.rate, 1, 500),
            ("speed", self.speed, 0, 1000),
            ("force", self.force, 0, 3000),
            ("patience", self.patience, 0.01, 60),
            ("port", self.port, 1, 65535),
        ):
            if not low <= value <= high:
                raise RuleSafeError(f"hands: {name} must lie within {low} and {high}, got {value}")


Publish = Callable[[bytes], None]


class NoHands:
    """A robot without hands, or hands that somebody else drives: it tells and does nothing."""

    joints = DRIVER_JOINTS

    def command(self, positions: NDArray, now: int) -> None:
        """Ignored."""

    def receive(self, raw: bytes, now: int) -> None:
        """Ignored."""

    def state(self, now: int) -> HandState | None:
        """Always None: nothing is known."""
        return None

    def close(self) -> None:
        """Nothing to let go of."""
