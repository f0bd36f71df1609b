"""The one exception base of the project, and the message that unknown names get."""

from collections.abc import Iterable


class RuleSafeError(Exception):
    """Something the caller can mend: the message says what was wrong and what is valid."""


def unknown_name(kind: str, name: object, valid: Iterable[str]) -> RuleSafeError:
    """The error for a name that is not known, listing the names that are."""
    return RuleSafeError(f"unknown {kind} {name!r}; valid: {', '.join(valid)}")
