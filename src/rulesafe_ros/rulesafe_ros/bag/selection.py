"""Which topics are recorded or played."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rulesafe_core.errors import RuleSafeError

NOISE = ("/rosout", "/parameter_events")
"""What every node writes: recorded only where it is asked for by name."""


@dataclass(frozen=True)
class Selection:
    """By name or by pattern.

    Attributes:
        topics: names, or patterns (regular expressions) that the whole name must match; none: all
            but NOISE and hidden ones.
        exclude: patterns of topics to leave out, whatever `topics` says.

    Several may stand in one text, separated by blanks, as a launch file hands them on.

    Errors: RuleSafeError for what is no regular expression.
    """

    topics: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("topics", "exclude"):
            words = " ".join(getattr(self, name)).split()
            object.__setattr__(self, name, tuple(words))
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
    """A topic's name from the root on: joint_states is /joint_states."""
    return name if name.startswith(("/", ".", "(", "[", "^")) else f"/{name}"
