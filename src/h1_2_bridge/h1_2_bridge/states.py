"""States of the bridge, and reasons for HOLDING."""

from dataclasses import dataclass
from enum import Enum


class ControlState(Enum):
    """State of the bridge; docs/safety.md lists the transitions."""

    DISCONNECTED = "DISCONNECTED"
    """No valid states are received from the robot; nothing is sent."""
    IDLE = "IDLE"
    """Valid states are received from the robot; nothing is sent."""
    ENGAGING = "ENGAGING"
    """The measured posture is commanded, and the weight rises from 0 to 1."""
    ACTIVE = "ACTIVE"
    """Chunks are executed."""
    HOLDING = "HOLDING"
    """The arm is braked and holds its position, or the weight ramps down (disengaging)."""
    DAMPING = "DAMPING"
    """Stopped: motors have damping but no stiffness; only a reset leaves this state."""
    FAULT = "FAULT"
    """The robot, the supervisor or the command topic is lost; the weight ramps down to 0; only a
    reset leaves this state."""


ENGAGED = (ControlState.ENGAGING, ControlState.ACTIVE, ControlState.HOLDING)
"""States in which the robot's posture is commanded."""

STOPPED = (ControlState.DAMPING, ControlState.FAULT)
"""States that are left only by a reset."""


@dataclass(frozen=True)
class HoldReason:
    """Reason for HOLDING.

    Attributes:
        reason: human-readable text.
        resumes: whether the next accepted chunk ends HOLDING; otherwise /bridge/engage does.
        yields: whether to command the measured arm position, which stops pressing on an obstacle.
        hand: whether the hand failed: it is not commanded until /bridge/engage, which begins at its
            measured position.
    """

    reason: str
    resumes: bool = False
    yields: bool = False
    hand: bool = False


NO_HEARTBEAT = "no heartbeat of h1_2_bridge_supervisor"
NOT_REACHED = "does not reach the robot: it has not discovered a subscription to the commands yet"
STILL_COMMANDED = "the robot still executes earlier commands"
ARM_MOVES = "an arm moves at"
TEMPORARY_REFUSALS = (NO_HEARTBEAT, NOT_REACHED, STILL_COMMANDED, ARM_MOVES)
"""Refusals to engage while the supervisor starts, or ramps the weight down, or an arm moves."""
