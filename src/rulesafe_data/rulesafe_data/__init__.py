"""Datasets in the LeRobot v3.0 format with additional point clouds (docs/dataset.md)."""
