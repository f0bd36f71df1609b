"""Figures that both processes of the bridge's benchmark use."""

from typing import TYPE_CHECKING

from h1_2_bridge.motors import RIGHT_ARM

if TYPE_CHECKING:  # rclpy only in the robot's process
    pass


RATE = 500.0
"""Hz, of states and of commands."""


PATIENCE = 60.0
"""s after which something that should happen has not."""


ELBOW = RIGHT_ARM[3]
