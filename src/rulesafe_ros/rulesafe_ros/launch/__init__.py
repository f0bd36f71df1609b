"""ROS 2 XML launch files on machines without ros2 (docs/launch.md)."""
