"""Joint names of the Unitree H1-2 with Inspire DFX hands, in the orders used on topics."""

ARM_JOINTS = tuple(
    f"right_{name}_joint"
    for name in (
        "shoulder_pitch",
        "shoulder_roll",
        "shoulder_yaw",
        "elbow",
        "wrist_roll",
        "wrist_pitch",
        "wrist_yaw",
    )
)
"""The seven joints of the right arm, from the shoulder to the hand."""

_HAND = (
    "pinky_proximal",
    "ring_proximal",
    "middle_proximal",
    "index_proximal",
    "thumb_proximal_pitch",
    "thumb_proximal_yaw",
)
HAND_JOINTS = tuple(f"R_{name}_joint" for name in _HAND)
"""The six motors of the right hand: pinky, ring, middle, index, thumb bend, thumb rotation."""

LEFT_HAND_JOINTS = tuple(f"L_{name}_joint" for name in _HAND)

ACTION_JOINTS = ARM_JOINTS + HAND_JOINTS
"""The 13 joints of an action (absolute positions in rad)."""

_LEG = ("hip_yaw", "hip_pitch", "hip_roll", "knee", "ankle_pitch", "ankle_roll")
BODY_JOINTS = (
    tuple(f"left_{name}_joint" for name in _LEG)
    + tuple(f"right_{name}_joint" for name in _LEG)
    + ("torso_joint",)
    + tuple(name.replace("right_", "left_") for name in ARM_JOINTS)
    + ARM_JOINTS
)
"""The 27 motors of the body in the order of the manufacturer's motor index."""

ALL_JOINTS = BODY_JOINTS + HAND_JOINTS + LEFT_HAND_JOINTS
"""The 39 actuated joints in /joint_states: body, right hand, left hand."""

ACTION_INDICES = [ALL_JOINTS.index(joint) for joint in ACTION_JOINTS]
"""Indices of ACTION_JOINTS in ALL_JOINTS."""
