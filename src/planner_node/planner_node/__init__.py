"""Inverse kinematics, motion planning and task programs that open the safes; the planner node."""
