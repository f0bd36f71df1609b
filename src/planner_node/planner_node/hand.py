"""What the right hand can do: finger postures and the pinch's geometry.

Angles in rad, in the order of HAND_JOINTS (pinky, ring, middle, index, thumb bend, thumb
rotation). The three last fingers are curled in every pinch posture, else they strike the part.
"""

import numpy as np
from numpy.typing import NDArray

from rulesafe_sim.transforms import Transform, about_axis, from_parts

PRE_PINCH = np.array([1.4, 1.4, 1.4, 0.4, 0.0, 1.174])
PINCH = np.array([1.4, 1.4, 1.4, 0.9, 0.26, 1.174])
"""Thumb and index meet head-on all the way: with more thumb and less index they pass each other
and a round bar slips out between them."""

RELEASE = PRE_PINCH + 0.45 * (PINCH - PRE_PINCH)

PINCH_POINT = np.array([-0.068, -0.154, -0.0267])
"""Middle between the tips of thumb and index when they are 20 to 27 mm apart, in the hand's base
frame (m)."""


BEND = np.radians(30.0)
"""Angle between the palm's normal and the approach. At 22 to 38 degrees the tips press on opposite
sides of a part 20 to 35 mm thick; outside of it they push it out."""

HAND_AXES = np.array(
    [
        [-np.cos(BEND), -np.sin(BEND), 0.0],
        [-np.sin(BEND), np.cos(BEND), 0.0],
        [0.0, 0.0, -1.0],
    ]
)
"""Columns: approach, closing (from index finger to thumb) and their cross product, in the hand's
base frame: thumb and index close in its x-y plane."""


def pinch_pose(
    point: NDArray[np.float64],
    approach: NDArray[np.float64],
    closing: NDArray[np.float64],
    roll: float = 0.0,
    tilt: float = 0.0,
) -> Transform:
    """Pose of the hand's base that brings the pinch point onto `point` (m), in the same frame.

    The hand comes along `approach` and closes along `closing` (unit, perpendicular), turned about
    the approach by `roll` and then about the closing axis by `tilt` (rad).
    """
    part = np.column_stack([approach, closing, np.cross(approach, closing)])
    turn = about_axis(closing, tilt) @ about_axis(approach, roll)
    rotation = turn[:3, :3] @ part @ HAND_AXES.T
    return from_parts(rotation, point - rotation @ PINCH_POINT)
