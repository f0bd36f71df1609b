"""The simulation behind Unitree's own messages: what the bridge is tested with (docs/robot.md)."""
