"""Read and write rosbag2 bags (MCAP files and metadata.yaml) without ROS."""
