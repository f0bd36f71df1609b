"""How this package's nodes are started."""

from rulesafe_sim.start import starter

policy_node = starter("policy_node.node")
