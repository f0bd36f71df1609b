"""Training and evaluation of the reader: locks of the grammar with their instructions, the parser,
and its success at the move level (docs/results/reading.md)."""
