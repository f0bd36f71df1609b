"""How this package's nodes are started."""

from rulesafe_start import starter

h1_2_bridge = starter("h1_2_bridge.node")
h1_2_bridge_supervisor = starter("h1_2_bridge.supervisor_node")
camera_points = starter("h1_2_bridge.camera_points_node")
