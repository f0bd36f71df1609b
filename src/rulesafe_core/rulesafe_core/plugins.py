"""Find objects by name: built-in ones, entry points of installed packages, `module:attribute`.

An installed package adds an object with an entry point in its pyproject.toml::

    [project.entry-points."rulesafe.memories"]
    grip = "my_package.memory:Grip"
"""

import importlib
import sys
import traceback
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from typing import Any, TypeVar

from rulesafe_core.errors import EXTRAS, RuleSafeError, missing_package, unknown_name

T = TypeVar("T")

GROUPS = {
    "rulesafe.agents": "agent",
    "rulesafe.cameras": "file of cameras",
    "rulesafe.commands": "command",
    "rulesafe.dataset_formats": "format of datasets",
    "rulesafe.locks": "rule set",
    "rulesafe.memories": "memory",
    "rulesafe.policies": "policy",
    "rulesafe.policy_schemes": "scheme of a policy's address",
    "rulesafe.safes": "safe",
}
"""Entry-point groups and the noun for an object of each group in error messages."""

INTEGRATIONS = {
    "rulesafe.commands": {
        "demos import-xr": "xr_teleoperate",
        "policy serve": "openpi",
        **dict.fromkeys(("safes import", "safes check", "safes export"), "urdf"),
    },
    "rulesafe.dataset_formats": {"groot": "groot", "lerobot-v2.1": "openpi"},
    "rulesafe.policy_schemes": {"groot": "groot", "openpi": "openpi"},
}
"""Entry points of the distributions in integrations/: group -> name -> folder there."""


def load(group: str, name: str, builtin: Mapping[str, T], *others: str) -> T:
    """Return the object that a name refers to.

    Built-in names take precedence over entry points. The types of other objects are not checked.

    Args:
        group: one of GROUPS.
        name: a key of `builtin`, the name of an installed entry point, or `module:attribute`.
        builtin: the built-in objects by name.
        others: further values that the caller accepts, for the error message.

    Raises:
        RuleSafeError: the name is unknown, or its module cannot be imported.
    """
    if name in builtin:
        return builtin[name]
    if name in (points := _installed(group, tuple(sys.path))).names:
        return import_object(points[name].value)  # type: ignore[no-any-return]
    if is_reference(name):
        return import_object(name)  # type: ignore[no-any-return]
    if name in INTEGRATIONS.get(group, {}):
        raise not_installed(group, name)
    raise unknown_name(GROUPS[group], name, (*names(group, builtin), "module:NAME", *others))


def load_file(
    group: str, name: str | Path, builtin: Mapping[str, Path], suffixes: tuple[str, ...]
) -> Path:
    """Return the file that a name refers to, for a group whose objects are file paths.

    Args:
        group: one of GROUPS.
        name: name as for `load`, or path of a file, which is returned even if it does not exist.
        builtin: the built-in files by name.
        suffixes: valid file suffixes, such as ".yaml".

    Raises:
        RuleSafeError: the name is unknown, or the object is not a path with a valid suffix.
    """
    if Path(name).suffix in suffixes:
        return Path(name)
    found: object = load(group, str(name), builtin, f"or a path to a {suffixes[0]} file")
    if not isinstance(found, str | Path) or Path(found).suffix not in suffixes:
        raise RuleSafeError(
            f"{GROUPS[group]} {name!r} refers to {found!r}; valid: the path of a {suffixes[0]} file"
        )
    return Path(found)


def names(group: str, builtin: Mapping[str, object]) -> list[str]:
    """Return the built-in names, then the names of entry points in alphabetical order."""
    return [*builtin, *sorted(_installed(group, tuple(sys.path)).names - set(builtin))]


def not_installed(group: str, name: str) -> RuleSafeError:
    """Return the error for an object of a distribution in INTEGRATIONS that is not installed."""
    folder = INTEGRATIONS[group][name]
    return RuleSafeError(
        f"the {GROUPS[group]} {name!r} is part of the distribution {folder}, which is not "
        f"installed: pip install ./integrations/{folder} in a clone of the repository"
    )


def references(group: str) -> dict[str, str]:
    """Return the entry points of a group: name -> `module:attribute`."""
    return {point.name: point.value for point in _installed(group, tuple(sys.path))}


@lru_cache
def _installed(group: str, path: tuple[str, ...]) -> EntryPoints:
    """Return the entry points of a group (cached: reading all packages takes about 0.1 s)."""
    return entry_points(group=group)


def is_reference(name: str) -> bool:
    """Return whether a name has the form `module:attribute`; paths may contain colons too."""
    module, colon, attribute = name.partition(":")
    return bool(colon) and module.replace(".", "").isidentifier() and attribute.isidentifier()


def import_object(reference: str) -> Any:
    """Import `module:attribute`.

    Raises:
        RuleSafeError: the module or attribute does not exist, or importing the module fails.
    """
    module, _, attribute = reference.partition(":")
    try:
        found = importlib.import_module(module)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            raise RuleSafeError(
                f"{reference!r} cannot be imported: {error}; install the module or add its folder "
                "to PYTHONPATH"
            ) from error
        if isinstance(error, ModuleNotFoundError) and error.name in EXTRAS:
            raise missing_package(error) from error
        trace = format_trace(error, __file__)
        raise RuleSafeError(f"{reference!r} cannot be imported:\n{trace}") from error
    if not hasattr(found, attribute):
        own = [n for n, value in vars(found).items() if getattr(value, "__module__", "") == module]
        raise unknown_name(f"attribute of {module}", attribute, own)
    return getattr(found, attribute)


def format_trace(error: Exception, *files: str) -> str:
    """Format the traceback of an error in user code.

    Args:
        error: the exception.
        files: leading frames in these files or in Python's import system are omitted.
    """
    skipped = (*files, importlib.__file__, "<frozen importlib")
    frame = error.__traceback__
    while frame and (name := frame.tb_frame.f_code.co_filename) and name.startswith(skipped):
        frame = frame.tb_next
    return "".join(traceback.format_exception(type(error), error, frame)).rstrip()
