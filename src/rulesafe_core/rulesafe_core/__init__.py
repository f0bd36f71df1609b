"""What every package shares: errors, joints, transforms, the robot, action chunks, ROS helpers."""
