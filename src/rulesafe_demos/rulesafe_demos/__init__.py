"""Demonstrations: generated, rendered, replayed, counted (docs/demos.md)."""
