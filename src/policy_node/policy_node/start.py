"""How this package's nodes are started."""

from rulesafe_start import starter

policy_node = starter("policy_node.node")
