"""Bridge between the real Unitree H1-2 and the topics of the simulation."""
