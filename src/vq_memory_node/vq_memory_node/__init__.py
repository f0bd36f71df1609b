"""VQ-Memory: past joint states as a few discrete tokens (docs/memory.md)."""
