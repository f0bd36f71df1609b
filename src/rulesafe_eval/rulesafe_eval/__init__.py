"""Evaluation, reports, the `rulesafe` command and the launcher for machines without ros2."""
