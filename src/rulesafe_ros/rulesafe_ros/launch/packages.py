"""Find a package's share directory and executables, with or without a ROS installation."""

from __future__ import annotations

import os
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.start import NODES
from rulesafe_core.text_files import parse_xml, read_text
from rulesafe_ros.launch.model import LaunchError

SHARE = Path(__file__).parents[1] / "share"
"""Share directories that pip installs with this Python package. In the repository, the files are
symbolic links to the files in the root folder."""


def share(package: str, beside: Path, environment: Mapping[str, str]) -> Path:
    """Return the share directory of an installed package, or the source directory of a package.

    A source directory contains the package.xml. It is searched for in the directories above the
    launch file (`beside`) and in their src/ folders, then in this Python package's share/ folder.

    Raises:
        LaunchError: the package is not found.
    """
    for prefix in _prefixes(environment):
        if (prefix / "share/ament_index/resource_index/packages" / package).exists():
            return prefix / "share" / package
    for parent in (beside, *beside.parents):
        for candidate in (parent, parent / "src" / package):
            if _package_name(candidate / "package.xml") == package:
                return candidate
    if (shipped := SHARE / package / "package.xml").is_file():
        return shipped.resolve().parent
    raise LaunchError(
        f"package {package!r} not found: it is not in AMENT_PREFIX_PATH, "
        f"and no directory above {beside} contains its package.xml"
    )


def executable(package: str, name: str, environment: Mapping[str, str]) -> list[str]:
    """Return the command that runs an executable of a package.

    Installed packages are searched first (PREFIX/lib/PACKAGE/NAME), then the console scripts whose
    node or function is in a Python package of that name.

    Raises:
        LaunchError: the package has no such executable.
    """
    for prefix in _prefixes(environment):
        path = prefix / "lib" / package / name
        if path.is_file() and os.access(path, os.X_OK):
            return [str(path)]
    nodes = {node.name: node.module for node in entry_points(group=NODES)}
    scripts = {
        script.name: script
        for script in entry_points(group="console_scripts")
        if nodes.get(script.name, script.module).split(".")[0] == package
    }
    if name in scripts:
        path = Path(sys.executable).parent / name
        if os.access(path, os.X_OK):
            return [str(path)]
        module, function = scripts[name].module, scripts[name].attr
        return [
            sys.executable, "-c",
            f"import sys, {module}; sys.argv[0] = {name!r}; sys.exit({module}.{function}())",
        ]  # fmt: skip
    known = ", ".join(sorted({*scripts, *_installed(package, environment)})) or "none"
    raise LaunchError(f"no executable {name!r} in package {package!r}; valid: {known}")


def _installed(package: str, environment: Mapping[str, str]) -> Iterator[str]:
    for prefix in _prefixes(environment):
        directory = prefix / "lib" / package
        if directory.is_dir():
            yield from (path.name for path in directory.iterdir() if os.access(path, os.X_OK))


def _prefixes(environment: Mapping[str, str]) -> list[Path]:
    """Return the installation prefixes; ROS wheels from PyPI use the interpreter's prefix."""
    listed = environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return [Path(prefix) for prefix in (*listed, sys.prefix) if prefix]


def _package_name(manifest: Path) -> str | None:
    if not manifest.is_file():
        return None
    try:
        return parse_xml(read_text(manifest)).findtext("name")
    except (ElementTree.ParseError, RuleSafeError):
        return None
