"""Versions of the physics, of the renderer, and of installed distributions.

Results, recordings, datasets and checkpoints store them.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from platform import python_version

from rulesafe_core.errors import RuleSafeError

PHYSICS = "2"
"""Version of the physics: increase it with every change of the state digests of episodes."""

RENDERER = "rulesafe_render 1"
"""Name and version of the renderer of images and point clouds: increase it with every change of a
pixel or of a point."""

EARLIER = {"physics": "1", "renderer": "sapien"}
"""The versions of files that state none: SAPIEN's renderer on a Vulkan driver."""

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


def renderer_version(name: str) -> str:
    """Return name and version of a renderer, by its name in `cameras.RENDERERS`."""
    return f"sapien {installed(['sapien'])['sapien']}" if name == "sapien" else RENDERER


def versions(renderer: str = RENDERER) -> dict[str, str]:
    """Return the versions on which the outcome of an episode may depend."""
    here = {"physics": PHYSICS, "renderer": renderer, "python": python_version()}
    return here | installed(PACKAGES)


def check_physics(stored: Mapping[str, str], what: str, remedy: str) -> None:
    """Check that actions lead to the same states as when they were recorded.

    Args:
        stored: the versions with which they were recorded.
        what: what was recorded, for the message.
        remedy: what to do instead, for the message.

    Raises:
        RuleSafeError: they were recorded with another version of the physics.
    """
    there = {**EARLIER, **stored}
    if there["physics"] != PHYSICS:
        raise RuleSafeError(
            f"{what} was recorded with version {there['physics']} of the physics, and this "
            f"software has version {PHYSICS}, in which the same actions lead to other states. Use "
            f"the RuleSafe that recorded it (rulesafe {there.get('rulesafe', 'unknown')}, physics "
            f"{there['physics']}), or {remedy}"
        )
