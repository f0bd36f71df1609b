# A task program may be any Python: here with functions for what comes again and again.
#
#     rulesafe demos run examples/programs/rule_020.py --rule rule_020 --safe safe_02
#
# rule_020: with the handle open, the knob is opened twice in a row as far as the lock can see, so
# it is closed again while the handle is closed, which the lock does not note. Knob and handle of
# safe_02 open counterclockwise by 60 degrees.

OPEN, CLOSE = -60, 60


def take(link, **state):
    planner.hand_pre_pinch("right")
    constraints = planner.generate_constraints(obj_name="safe", target_link=link, **state)
    _, pose = planner.generate_end_effector_pose(constraints)
    planner.move_to_pose(pose)
    planner.hand_pinch("right", pinch_object="safe")


def turn(link, angle):
    take(link)
    planner.rotate_hand(hand="right", angle=angle)


turn("handle", OPEN)
turn("knob", OPEN)  # the first 1
turn("handle", CLOSE)
turn("knob", CLOSE)  # unseen: the handle is closed
turn("handle", OPEN)
turn("knob", OPEN)  # the second 1
turn("handle", CLOSE)  # the door is free now

take("handle", state_link="door", openness=0)
constraints = planner.generate_constraints(
    obj_name="safe", target_link="handle", state_link="door", openness=1
)
_, pose = planner.generate_end_effector_pose(constraints)
planner.move_to_pose(pose)
