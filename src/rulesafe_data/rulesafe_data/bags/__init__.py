"""Bags as rosbag2 writes them: directories of MCAP files and a metadata.yaml. No ROS here."""
