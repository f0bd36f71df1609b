"""Tables and texts in Markdown."""

import re
from collections.abc import Sequence


def markdown_table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Format rows, the first being the header; all columns after the first `left` ones are
    right-aligned."""
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|" + "---|" * left + "---:|" * (len(rows[0]) - left), *body])


def escaped(text: str) -> str:
    """Return a text as Markdown that shows it, in one line, also in a cell of a table."""
    line = " ".join(text.split())
    return re.sub(r"([\\`*\[\]<>|~&]|(?<!\w)_|_(?!\w)|^[#+-])", r"\\\1", line)
