"""What the commands that look at a graph share."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulesafe_ros.graph.client_node import GraphClient


def connected() -> AbstractContextManager["GraphClient"]:
    """A node that looks. Errors: RuleSafeError without ROS 2."""
    from rulesafe_ros.graph.client_node import connected as connect

    return connect()


def columns(rows: Iterable[Sequence[str]]) -> str:
    """Rows of as many cells each, below one another."""
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    padded = (map(str.ljust, row, widths) for row in table)
    return "\n".join("  ".join(row).rstrip() for row in padded)
