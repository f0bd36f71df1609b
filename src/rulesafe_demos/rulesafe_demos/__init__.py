"""Demonstrations: generation, rendering, replay and statistics (docs/demos.md)."""
