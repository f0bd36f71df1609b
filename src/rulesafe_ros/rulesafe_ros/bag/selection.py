"""Which topics are recorded or played."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rulesafe_core.errors import RuleSafeError

NOISE = ("/rosout", "/parameter_events")
"""Topics of every node, recorded only if they are named."""


@dataclass(frozen=True)
class Selection:
    """Topics by name or by pattern.

    Attributes:
        topics: names, or regular expressions of complete names; none: all but NOISE and hidden
            topics. A text may hold several, separated by spaces, as a launch file passes them.
        exclude: regular expressions of topics to leave out.

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
                raise RuleSafeError(f"{pattern!r} is no regular expression: {error}") from None

    def __contains__(self, name: str) -> bool:
        if any(re.fullmatch(pattern, name) for pattern in self.exclude):
            return False
        if self.topics:
            return any(
                full_name(pattern) == name or re.fullmatch(full_name(pattern), name)
                for pattern in self.topics
            )
        return name not in NOISE and "/_" not in name


def full_name(name: str) -> str:
    """Return a topic's name with its slash: joint_states is /joint_states."""
    return name if name.startswith(("/", ".", "(", "[", "^")) else f"/{name}"
