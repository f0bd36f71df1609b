"""Checks of this machine, each with a remedy."""
