"""The hands: their joints, states and calibration, and `HandDriver`, which all drivers implement.

Joints are the simulation's, rad, larger is more closed; the hands themselves count
from 0 (closed) to 1 (open), right hand first, slots in the order pinky, ring, middle, index, thumb
bend, thumb rotation.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from h1_2_bridge.config import BridgeParameters
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


def calibration(parameters: BridgeParameters, side: str, default: Calibration) -> Calibration:
    """The calibration of the "right" or "left" hand that the parameters give, or the default.

    Raises:
        RuleSafeError: for other than six numbers, or only one end.
    """
    texts = {end: getattr(parameters, f"hand_{side}_{end}") for end in ("open", "closed")}
    if not any(texts.values()):
        return default
    numbers = {}
    for end, text in texts.items():
        try:
            numbers[end] = tuple(float(part) for part in text.split(","))
        except ValueError:
            numbers[end] = ()
        if len(numbers[end]) != FINGERS:
            raise RuleSafeError(
                f"hand_{side}_{end} takes {FINGERS} numbers in rad with commas between them, as "
                f"does its counterpart, got {text!r}"
            )
    return Calibration(**numbers)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Registers:
    """Addresses of the FTP hand's Modbus registers, six 16-bit ones from each (its manual)."""

    angle_set: int = 1486
    force_set: int = 1498
    speed_set: int = 1522
    angle_actual: int = 1546
    force_actual: int = 1582


def ftp_registers(text: str) -> Registers:
    """The registers, of which `text` changes some, as in "angle_set=1486, force_set=1498".

    Raises:
        RuleSafeError: for an unknown register or an address that is no number.
    """
    changes: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name not in Registers.__dataclass_fields__ or not number.isdigit():
            known = ", ".join(f"{field}=NUMBER" for field in Registers.__dataclass_fields__)
            raise RuleSafeError(f"hand_registers takes some of {known}; got {part!r}")
        changes[name] = int(number)
    return Registers(**changes)
