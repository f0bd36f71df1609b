"""Functions shared by the commands that inspect a graph."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulesafe_ros.graph.client_node import GraphClient


def connected() -> AbstractContextManager["GraphClient"]:
    """Return a client of the graph."""
    from rulesafe_core.client_node import connected as connect
    from rulesafe_ros.graph.client_node import GraphClient

    return connect(GraphClient)


def columns(rows: Iterable[Sequence[str]]) -> str:
    """Return the rows as text with aligned columns."""
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    padded = (map(str.ljust, row, widths) for row in table)
    return "\n".join("  ".join(row).rstrip() for row in padded)
