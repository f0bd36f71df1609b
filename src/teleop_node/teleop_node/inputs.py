"""Decode and check what input devices publish. A message is any object with the fields of its
type; this module does not import ROS."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import decode_pose
from rulesafe_core.transforms import Transform

FRAME = "pelvis"
"""Frame of target poses."""

PARTS = ("knob", "handle", "door")
"""Parts to approach; the door is grasped by its handle."""

MAX_ANGLE = 60.0
"""Largest angle of one request, deg."""

FORMS = "approach knob|handle|door, grasp, turn DEGREES, pull DEGREES, stop"


@dataclass(frozen=True)
class AssistRequest:
    """A request of an assisted motion, a text on /teleop/assist.

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


def decode_target(message: Any) -> Transform:
    """Return the pose of a geometry_msgs/PoseStamped in the pelvis frame.

    Raises:
        RuleSafeError: another frame, a value that is not finite, or no unit quaternion.
    """
    frame, p, q = message.header.frame_id, message.pose.position, message.pose.orientation
    if frame != FRAME:
        raise RuleSafeError(f"/teleop/target_pose is in the frame {frame!r}; valid: {FRAME!r}")
    quaternion = np.array([q.w, q.x, q.y, q.z])
    length = float(np.linalg.norm(quaternion))
    if not (np.isfinite([p.x, p.y, p.z, length]).all() and abs(length - 1) < 0.1):
        raise RuleSafeError("/teleop/target_pose must be finite, with a unit quaternion")
    return decode_pose(message.pose)


def decode_twist(message: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the linear (3,) and angular (3,) velocity of a geometry_msgs/Twist; raise
    RuleSafeError if a value is not finite."""
    linear, angular = (np.array([v.x, v.y, v.z]) for v in (message.linear, message.angular))
    if not (np.isfinite(linear).all() and np.isfinite(angular).all()):
        raise RuleSafeError("/teleop/twist must be finite")
    return linear, angular


def decode_grip(message: Any) -> float:
    """Return the grip of a std_msgs/Float64; raise RuleSafeError if it is not in 0..1."""
    if not 0 <= message.data <= 1:
        raise RuleSafeError(f"/teleop/grip is {message.data:g}; valid: 0 (open) to 1 (pinched)")
    return float(message.data)
