"""Record and play bags, and convert them to datasets and films (docs/bags.md)."""
