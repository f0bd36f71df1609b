"""Demonstrations on disk: the LeRobot v3.0 layout with point clouds beside it (docs/dataset.md)."""
