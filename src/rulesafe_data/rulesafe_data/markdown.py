"""Tables in Markdown."""

from collections.abc import Sequence


def markdown_table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Format rows, the first being the header; all columns after the first `left` ones are
    right-aligned."""
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|" + "---|" * left + "---:|" * (len(rows[0]) - left), *body])
