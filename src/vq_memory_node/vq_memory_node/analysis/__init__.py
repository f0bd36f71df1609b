"""How much a memory's tokens tell: probes, information, figures (docs/memory.md)."""
