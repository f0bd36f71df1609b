"""Tools for a running ROS 2 graph: launch, bags, live view, topics, diagnosis."""
