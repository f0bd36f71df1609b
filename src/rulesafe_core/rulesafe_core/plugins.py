"""Registries of objects by name: built-in ones, and entry points of installed packages.

An installed package adds an object with an entry point in its pyproject.toml::

    [project.entry-points."rulesafe.memories"]
    grip = "my_package.memory:Grip"

The command line takes its names and its help from the registries.
"""

import importlib
import os
import sys
import traceback
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar

from rulesafe_core.errors import EXTRAS, RuleSafeError, missing_package, unknown_name

T = TypeVar("T")

FORM = "module:NAME"
"""Form of a reference in help and error messages."""

CONSENT = "RULESAFE_ALLOW_MODULES"
"""Environment variable: comma-separated modules and packages that files may name; the option
--allow-module of all commands extends it."""

INTEGRATIONS = {
    "rulesafe.commands": {
        "demos import-xr": "xr_teleoperate",
        "policy serve": "openpi",
        **dict.fromkeys(("safes import", "safes check", "safes export"), "urdf"),
    },
    "rulesafe.dataset_formats": {"groot": "groot", "lerobot-v2.1": "openpi"},
    "rulesafe.engines": {"ray": "ray_engine"},
    "rulesafe.policy_schemes": {"groot": "groot", "openpi": "openpi"},
}
"""Entry points of the distributions in integrations/: group -> name -> folder there."""


class Registry(Generic[T]):
    """The objects of one kind by name.

    A name is that of a built-in object or of an entry point, or `module:attribute`. Built-in names
    take precedence. The types of objects that are not built in are not checked.

    Args:
        group: entry-point group of the objects of installed packages.
        noun: noun for an object in error messages.
        builtin: the built-in objects by name.

    Attributes:
        builtin: the built-in objects by name.
        metavar: placeholder of a name in the help of a command.
    """

    def __init__(self, group: str, noun: str, builtin: Mapping[str, T] | None = None) -> None:
        self.group, self.noun, self.builtin = group, noun, dict(builtin or {})
        self.metavar = "|".join([*([f"{{{','.join(self.builtin)}}}"] if builtin else []), FORM])

    def names(self) -> list[str]:
        """Return the built-in names, then the names of entry points in alphabetical order."""
        return [*self.builtin, *sorted(self.references().keys() - self.builtin.keys())]

    def references(self) -> dict[str, str]:
        """Return the entry points: name -> `module:attribute`."""
        return {point.name: point.value for point in _installed(self.group, tuple(sys.path))}

    def load(self, name: str, *others: str) -> T:
        """Return the object that a name refers to.

        Args:
            name: the name.
            others: further values that the caller accepts, for the error message.

        Raises:
            RuleSafeError: the name is unknown, or its module cannot be imported.
        """
        if name in self.builtin:
            return self.builtin[name]
        reference = self.references().get(name, name)
        if is_reference(reference):
            return import_object(reference)  # type: ignore[no-any-return]
        if name in INTEGRATIONS.get(self.group, {}):
            raise self.not_installed(name)
        raise unknown_name(self.noun, name, (*self.names(), FORM, *others))

    def check_consent(self, name: str) -> None:
        """Check a name that a file states, before it is loaded: importing a module runs its code.

        A module that is already imported is added to CONSENT, which worker processes inherit.

        Raises:
            RuleSafeError: the name is `module:attribute`, the module is neither imported nor of an
                entry point, and the user did not allow it (CONSENT).
        """
        if not isinstance(name, str):
            raise RuleSafeError(f"the name of a {self.noun} is {name!r:.60}; valid: a text")
        references = self.references()
        module = name.partition(":")[0]
        allowed = [each for each in os.environ.get(CONSENT, "").split(",") if each]
        if (
            not is_reference(name)
            or name in (*self.builtin, *references, *references.values())
            or any(f"{module}.".startswith(f"{each}.") for each in allowed)
        ):
            return
        if module in sys.modules:
            os.environ[CONSENT] = ",".join([*allowed, module])  # for worker processes
        else:
            raise RuleSafeError(
                f"a file names the {self.noun} {name!r}, which would run the code of the module "
                f"{module}: add --allow-module {module} if you trust it, or set {CONSENT}"
            )

    def not_installed(self, name: str) -> RuleSafeError:
        """Return the error for an object of a distribution in INTEGRATIONS that is missing."""
        folder = INTEGRATIONS[self.group][name]
        return RuleSafeError(
            f"the {self.noun} {name!r} is part of the distribution {folder}, which is not "
            f"installed: pip install ./integrations/{folder} in a clone of the repository"
        )


class FileRegistry(Registry[Path]):
    """The YAML files of one kind; a name may also be the path of a file."""

    SUFFIXES = (".yaml", ".yml")

    def file(self, name: str | Path) -> Path:
        """Return the file that a name refers to; that of a path may not exist.

        Raises:
            RuleSafeError: the name is unknown, or the object is not the path of a YAML file.
        """
        if Path(name).suffix in self.SUFFIXES:
            return Path(name)
        found: object = self.load(str(name), "or a path to a .yaml file")
        if not isinstance(found, str | Path) or Path(found).suffix not in self.SUFFIXES:
            raise RuleSafeError(
                f"{self.noun} {name!r} refers to {found!r}; valid: the path of a .yaml file"
            )
        return Path(found)


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
