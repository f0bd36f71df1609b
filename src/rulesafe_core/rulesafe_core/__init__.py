"""Shared by all packages: errors, joints, transforms, robot model, action chunks, ROS helpers."""
