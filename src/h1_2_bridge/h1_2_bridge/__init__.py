"""The real Unitree H1-2 on the topics of the simulation."""
