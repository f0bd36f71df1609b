"""Simulation: safes, scene, physics, cameras, Gymnasium environment and ROS node."""

import warnings

# SAPIEN says so as it is imported. Only `renderer: sapien` needs Vulkan, and has an error of its own.
warnings.filterwarnings("ignore", "Failed to find system libvulkan")
