"""How this package's node is started."""

from rulesafe_start import starter

sim_node = starter("rulesafe_sim.node")
