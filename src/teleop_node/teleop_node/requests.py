"""Requests of assisted motions, as texts on /teleop/assist."""

import math
from dataclasses import dataclass

from rulesafe_core.errors import RuleSafeError

PARTS = ("knob", "handle", "door")
"""Parts to approach; the door is grasped by its handle."""

MAX_ANGLE = 60.0
"""Largest angle of one request, deg."""

FORMS = "approach knob|handle|door, grasp, turn DEGREES, pull DEGREES, stop"


@dataclass(frozen=True)
class AssistRequest:
    """A request.

    Attributes:
        action: approach, grasp, turn, pull or stop.
        part: part to approach, else empty.
        angle: angle of turn and pull, rad, else 0; positive opens.
    """

    action: str
    part: str = ""
    angle: float = 0.0

    def __str__(self) -> str:
        angle = f"{math.degrees(self.angle):g} deg" if self.angle else ""
        return " ".join(filter(None, (self.action, self.part, angle)))


def parse_request(text: str) -> AssistRequest:
    """Return the request of a text such as "turn 15"; raise RuleSafeError if it is invalid."""
    action, *rest = text[:100].split() or [""]
    if action in ("grasp", "stop") and not rest:
        return AssistRequest(action)
    if action == "approach" and len(rest) == 1 and rest[0] in PARTS:
        return AssistRequest(action, part=rest[0])
    if action in ("turn", "pull") and len(rest) == 1:
        try:
            angle = float(rest[0])
        except ValueError:
            angle = math.nan
        if 0 < abs(angle) <= MAX_ANGLE:
            return AssistRequest(action, angle=math.radians(angle))
        raise RuleSafeError(f"the angle of {text[:100]!r} must be up to {MAX_ANGLE:g} deg, not 0")
    raise RuleSafeError(f"unknown request {text[:100]!r} on /teleop/assist; valid: {FORMS}")
