"""Record and play bags, and convert them to datasets and videos (docs/dataset.md)."""
