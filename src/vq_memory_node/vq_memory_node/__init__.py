"""VQ-Memory: past joint positions as a few discrete tokens (docs/memory.md)."""
