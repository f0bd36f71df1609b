"""The bridge's states, and why it holds."""

from dataclasses import dataclass
from enum import Enum


class ControlState(Enum):
    """What the bridge does with the robot. docs/safety.md tells which leads to which."""

    DISCONNECTED = "DISCONNECTED"
    """No state comes from the robot; nothing is sent."""
    IDLE = "IDLE"
    """The robot is heard; nothing is sent."""
    ENGAGING = "ENGAGING"
    """The measured posture is commanded, and the weight rises from 0 to 1."""
    ACTIVE = "ACTIVE"
    """Chunks are followed."""
    HOLDING = "HOLDING"
    """The arm has been braked and stays, with a reason; or the weight falls (disengaging)."""
    DAMPING = "DAMPING"
    """No stiffness, damping alone: a stop, which only a reset ends."""
    FAULT = "FAULT"
    """The robot can no longer be seen; the weight falls to 0, and only a reset ends it."""


ENGAGED = (ControlState.ENGAGING, ControlState.ACTIVE, ControlState.HOLDING)
"""States in which the robot's posture is commanded."""

STOPPED = (ControlState.DAMPING, ControlState.FAULT)
"""States that only a reset ends."""


@dataclass(frozen=True)
class HoldReason:
    """Why the bridge holds.

    Attributes:
        reason: in words, for people.
        resumes: whether the next good chunk ends it; otherwise /bridge/engage does.
        yields: whether the arm is commanded to where it is measured, so that it no longer presses.
    """

    reason: str
    resumes: bool = False
    yields: bool = False
