"""How this package's nodes are started."""

from rulesafe_start import starter

vq_memory_node = starter("vq_memory_node.node")
