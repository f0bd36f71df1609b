"""Teleoperation of the right arm and hand: the keyboard, and any device that publishes poses."""
