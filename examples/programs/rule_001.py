# A task program: the knob, the handle, the door, in the calls of planner_node/tasks.py.
#
#     rulesafe demos run examples/programs/rule_001.py --rule rule_001 --safe safe_02
#
# It suits safes whose knob and handle open counterclockwise by 60 degrees (safe_02, safe_04); for
# any other, `rulesafe demos program --rule rule_001 --safe safe_07` writes one.

# The knob
planner.hand_pre_pinch("right")
constraints = planner.generate_constraints(obj_name="safe", target_link="knob")
_, pose = planner.generate_end_effector_pose(constraints)
planner.move_to_pose(pose)
planner.hand_pinch("right", pinch_object="safe")
planner.rotate_hand(hand="right", angle=-60)

# The handle
planner.hand_pre_pinch("right")
constraints = planner.generate_constraints(obj_name="safe", target_link="handle")
_, pose = planner.generate_end_effector_pose(constraints)
planner.move_to_pose(pose)
planner.hand_pinch("right", pinch_object="safe")
planner.rotate_hand(hand="right", angle=-60)

# The door: the hand still holds the handle
constraints = planner.generate_constraints(
    obj_name="safe", target_link="handle", state_link="door", openness=1
)
_, pose = planner.generate_end_effector_pose(constraints)
planner.move_to_pose(pose)
