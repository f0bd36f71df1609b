"""Versions of installed distributions."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from platform import python_version

PACKAGES = ("rulesafe", "numpy", "scipy", "sapien", "pin", "coal", "ompl", "toppra", "daqp")
"""Distributions whose versions may change the outcome of an episode."""


def installed(distributions: Sequence[str]) -> dict[str, str]:
    """Return the version of each distribution, or "not installed"."""
    found = {}
    for name in distributions:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def versions() -> dict[str, str]:
    """Return the versions on which the outcome of an episode may depend."""
    return {"python": python_version(), **installed(PACKAGES)}
