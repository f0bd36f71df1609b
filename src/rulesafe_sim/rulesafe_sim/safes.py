"""Load safes: the ten YAML files in data/safes, those of installed packages, and user files.

    safe = load_safe("safe_03")          # or load_safe("my_safe.yaml")
    safe.parts["knob"].range             # rad; 0 = closed
    safe.grasps("knob", "turn")          # its pinch grasps

`safe_body.safe_body(safe)` builds the geometry. docs/safes.md explains the keys of the file.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.plugins import FileRegistry
from rulesafe_core.strict_yaml import build, read_yaml
from rulesafe_sim.safe import Case, Door, Handle, Knob, Looks, Safe
from rulesafe_sim.safe_checks import check_safe
from rulesafe_sim.safe_meshes import Shell, digest, located, mesh_files

SAFES = tuple(f"safe_{i:02d}" for i in range(1, 11))
"""Ids of the built-in safes."""

FILES = {name: Path(__file__).parent / f"data/safes/{name}.yaml" for name in SAFES}
"""YAML file of each built-in safe."""

SAFE_FILES = FileRegistry("rulesafe.safes", "safe", FILES)


@dataclass(frozen=True)
class SafeParts:
    """The parts in a safe's file."""

    knob: Knob
    handle: Handle
    door: Door


@dataclass(frozen=True)
class SafeFile:
    """Content of a safe's file."""

    title: str
    hinge: Literal["left", "right"]
    looks: Looks
    parts: SafeParts
    case: Case | Shell = field(metadata={"family": "case"})
    meshes_sha256: str | None = None


def safe_file(name: str | Path) -> Path:
    """Return the YAML file of a safe.

    Args:
        name: an id in SAFES, the path of a YAML file, or an entry point of the group
            "rulesafe.safes" or `module:attribute` whose value is such a path.

    Raises:
        RuleSafeError: the name is unknown.
    """
    return SAFE_FILES.file(name)


def load_safe(name: str | Path | Safe) -> Safe:
    """Load a safe by a name that `safe_file` accepts; a `Safe` is returned unchanged. Raises
    RuleSafeError with the file and key."""
    if isinstance(name, Safe):
        return name
    return _builtin_safe(str(name)) if name in SAFES else read_safe(safe_file(name))


@lru_cache
def _builtin_safe(name: str) -> Safe:
    return _read(FILES[name])  # without the checks, a quarter of a second each; tests do them


def read_safe(path: Path) -> Safe:
    """Read a safe from a YAML file and check that the hand can operate it."""
    safe = _read(path)
    try:
        check_safe(safe)
    except RuleSafeError as error:
        raise RuleSafeError(f"{path.name}: {error}") from error
    return safe


def _read(path: Path) -> Safe:
    about = build(SafeFile, read_yaml(path), path.name)
    try:
        about = _with_meshes(about, path.parent)
    except RuleSafeError as error:
        raise RuleSafeError(f"{path.name}: {error}") from error
    parts = about.parts
    return Safe(
        *(path.stem, about.title, about.hinge, about.case, about.looks),
        *(parts.knob, parts.handle, parts.door),
    )


def _with_meshes(about: SafeFile, folder: Path) -> SafeFile:
    """Locate the meshes of a file. Raises RuleSafeError if they differ from the file's hash."""
    names = mesh_files(about)
    if not names:
        return about
    found: SafeFile = located(about, folder)
    if about.meshes_sha256 != (expected := digest(names, folder)):
        raise RuleSafeError(
            f"meshes_sha256 is {about.meshes_sha256}, but the {len(names)} mesh files have "
            f"{expected}: import the safe again, or write this value if you changed the meshes"
        )
    return found
