"""Measurements of memory tokens: information about the task step, stability, computational cost."""
