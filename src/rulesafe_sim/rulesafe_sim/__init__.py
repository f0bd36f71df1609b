"""The simulation: safes, scene, physics, cameras, the Gymnasium environment and its ROS node."""
