"""Selection of the topics to record or play."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rulesafe_core.errors import RuleSafeError

NODE_TOPICS = ("/rosout", "/parameter_events")
"""Topics of every node, recorded only if they are selected by name."""


@dataclass(frozen=True)
class Selection:
    """Topics by name or by pattern.

    Attributes:
        topics: names, or regular expressions for complete names; empty: all topics except
            NODE_TOPICS and hidden ones. An item may contain several names separated by spaces, as
            passed by a launch file.
        exclude: regular expressions for topics to exclude.

    Raises:
        RuleSafeError: a regular expression is invalid.
    """

    topics: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("topics", "exclude"):
            object.__setattr__(self, name, tuple(" ".join(getattr(self, name)).split()))
        for pattern in (*self.topics, *self.exclude):
            try:
                re.compile(pattern)
            except re.error as error:
                raise RuleSafeError(f"{pattern!r} is not a regular expression: {error}") from None

    def __contains__(self, name: str) -> bool:
        if any(re.fullmatch(pattern, name) for pattern in self.exclude):
            return False
        if self.topics:
            return any(
                full_name(pattern) == name or re.fullmatch(full_name(pattern), name)
                for pattern in self.topics
            )
        return name not in NODE_TOPICS and "/_" not in name


def full_name(name: str) -> str:
    """Return a topic's name with a leading slash; regular expressions are unchanged."""
    return name if name.startswith(("/", ".", "(", "[", "^")) else f"/{name}"
