"""Simulated robot with Unitree's message interface, to test the bridge with (docs/robot.md)."""
