"""Joint names of the Unitree H1-2 with Inspire DFX hands, in the orders that topics use."""

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
"""The right arm's seven joints, from the shoulder to the hand."""

_HAND = (
    "pinky_proximal",
    "ring_proximal",
    "middle_proximal",
    "index_proximal",
    "thumb_proximal_pitch",
    "thumb_proximal_yaw",
)
HAND_JOINTS = tuple(f"R_{name}_joint" for name in _HAND)
"""The right hand's six motors: pinky, ring, middle, index, thumb bend, thumb rotation."""

LEFT_HAND_JOINTS = tuple(f"L_{name}_joint" for name in _HAND)

ACTION_JOINTS = ARM_JOINTS + HAND_JOINTS
"""The 13 joints that an action commands, absolute positions in rad."""

_LEG = ("hip_yaw", "hip_pitch", "hip_roll", "knee", "ankle_pitch", "ankle_roll")
BODY_JOINTS = (
    tuple(f"left_{name}_joint" for name in _LEG)
    + tuple(f"right_{name}_joint" for name in _LEG)
    + ("torso_joint",)
    + tuple(name.replace("right_", "left_") for name in ARM_JOINTS)
    + ARM_JOINTS
)
"""The body's 27 motors in the order of the manufacturer's motor index."""

ALL_JOINTS = BODY_JOINTS + HAND_JOINTS + LEFT_HAND_JOINTS
"""The 39 actuated joints that /joint_states carries: body, right hand, left hand."""

ACTED = [ALL_JOINTS.index(joint) for joint in ACTION_JOINTS]
"""Where those of ACTION_JOINTS stand among ALL_JOINTS."""
