"""Policies: from observations and memory to chunks of actions."""
