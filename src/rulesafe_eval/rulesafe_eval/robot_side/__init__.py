"""The simulation as a robot: Unitree's messages in and out, behind which SAPIEN stands.

It is what `robot.launch.xml target:=sim_dds` puts in the robot's place, so that everything from
the bridge on runs as with the robot. Only its two nodes speak ROS, and only the simulation imports
SAPIEN.
"""
