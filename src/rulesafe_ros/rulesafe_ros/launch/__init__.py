"""Run ROS 2 XML launch files without a ROS 2 installation (docs/ros.md)."""
