"""Versions of installed distributions."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version


def installed(distributions: Sequence[str]) -> dict[str, str]:
    """Return the version of each distribution, or "not installed"."""
    found = {}
    for name in distributions:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
