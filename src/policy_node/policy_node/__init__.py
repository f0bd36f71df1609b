"""Policies: what the robot sees and remembers in, chunks of actions out."""
