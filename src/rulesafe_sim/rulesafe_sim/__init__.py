"""Simulation: safes, scene, physics, cameras, Gymnasium environment and ROS node."""
