"""Joints, states and calibration of the hands, and the driver interface `HandDriver`.

Joint positions are those of the simulation: rad, larger is more closed. Hand units range from 0
(closed) to 1 (open), right hand first, in the order pinky, ring, middle, index, thumb bend, thumb
rotation.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from h1_2_bridge.config import BridgeParameters
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import HAND_JOINTS, LEFT_HAND_JOINTS

FINGERS = len(HAND_JOINTS)
"""Number of motors of one hand."""

DRIVER_JOINTS: tuple[str, ...] = HAND_JOINTS + LEFT_HAND_JOINTS
"""Joint order of all driver arrays (12,), right hand first."""

Array = NDArray[np.float64]
Six = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class HandState:
    """Last measured state of both hands.

    Attributes:
        positions: (12,) rad, in the order of DRIVER_JOINTS; NaN if unknown.
        stamp: ns, oldest of the last response times of the hands in use.
        force: (12,) in the hand's own unit (FTP: g); NaN if unknown.
        fault: why a hand cannot be used; empty if both can.
    """

    positions: Array
    stamp: int
    force: Array = field(default_factory=lambda: np.full(2 * FINGERS, np.nan))
    fault: str = ""


class HandDriver(Protocol):
    """Driver of both hands. `joints`: 12 names, the order of all arrays."""

    joints: tuple[str, ...]

    def command(self, positions: NDArray, now: int) -> None:
        """Command joint targets (12,), rad; NaN: no change. Does not block. `now`: ns."""

    def receive(self, raw: bytes, now: int) -> None:
        """Process a message of the hands' state topic, if the hands have one. Raises RuleSafeError
        for an invalid message."""

    def state(self, now: int) -> HandState | None:
        """Return the last state; None before the first."""

    def close(self) -> None:
        """Close connections and end threads."""


@dataclass(frozen=True)
class Calibration:
    """Joint positions (6,), rad, of one hand at hand unit 1 (open) and 0 (closed)."""

    open: Six
    closed: Six

    def __post_init__(self) -> None:
        if len(self.open) != FINGERS or len(self.closed) != FINGERS:
            raise RuleSafeError(
                f"a hand calibration needs {FINGERS} open and {FINGERS} closed positions, got "
                f"{self.open} and {self.closed}"
            )
        if not np.all(np.abs(np.subtract(self.closed, self.open)) > 0.05):
            raise RuleSafeError(
                f"open and closed positions of a finger must differ by more than 0.05 rad, got "
                f"open {self.open} and closed {self.closed}"
            )

    def to_hand(self, positions: ArrayLike) -> Array:
        """Convert joint positions (6,), rad, to hand units (6,) in 0..1; NaN stays NaN."""
        opened, closed = np.array(self.open), np.array(self.closed)
        share = (closed - np.asarray(positions, np.float64)) / (closed - opened)
        return np.clip(share, 0.0, 1.0)

    def from_hand(self, shares: ArrayLike) -> Array:
        """Convert measured hand units (6,) to joint positions (6,), rad."""
        opened, closed = np.array(self.open), np.array(self.closed)
        return closed - np.asarray(shares, np.float64) * (closed - opened)


DFX = Calibration(open=(0, 0, 0, 0, 0, -0.1), closed=(1.7, 1.7, 1.7, 1.7, 0.5, 1.3))
"""Inspire DFX: (max - q) / (max - min) with the limits of the manufacturer's teleoperation code."""

FTP = Calibration(open=(0, 0, 0, 0, 0, 0), closed=(1.4381, 1.4381, 1.4381, 1.4381, 0.5864, 1.1641))
"""Inspire FTP: joint limits of the FTP hand in the robot description."""


SIDES = ("right", "left")


def calibration(parameters: BridgeParameters, side: str, default: Calibration) -> Calibration:
    """Return the calibration of the "right" or "left" hand in the parameters, else `default`.

    Raises:
        RuleSafeError: not six numbers, or only one of open and closed is given.
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
                f"hand_{side}_{end} must be {FINGERS} comma-separated numbers (rad), got {text!r}; "
                f"set hand_{side}_open and hand_{side}_closed, or neither"
            )
    return Calibration(**numbers)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Registers:
    """First addresses of the FTP hand's blocks of six 16-bit Modbus registers (its manual)."""

    angle_set: int = 1486
    force_set: int = 1498
    speed_set: int = 1522
    angle_actual: int = 1546
    force_actual: int = 1582


def ftp_registers(text: str) -> Registers:
    """Return the registers with overrides in `text`, as in "angle_set=1486, force_set=1498".

    Raises:
        RuleSafeError: a register is unknown or its address is not a number.
    """
    changes: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name not in Registers.__dataclass_fields__ or not number.isdigit():
            valid = ", ".join(f"{field}=NUMBER" for field in Registers.__dataclass_fields__)
            raise RuleSafeError(f"invalid entry {part!r} in hand_registers; valid: {valid}")
        changes[name] = int(number)
    return Registers(**changes)
