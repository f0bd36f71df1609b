"""How this package's nodes are started."""

from rulesafe_start import starter

planner_node = starter("planner_node.node")
