"""Bags: recorded, played, converted to datasets and films (docs/bags.md)."""
