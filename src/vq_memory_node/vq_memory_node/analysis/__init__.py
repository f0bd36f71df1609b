"""Analysis of memory tokens: probes, mutual information, stability, figures (docs/memory.md)."""
