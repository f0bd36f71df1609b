"""What a dataset consists of: counts, bytes, and the hash of every file."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_data import layout
from rulesafe_data.files import files_below, sha256, size_below
from rulesafe_data.store import EpisodeStore

PARTS = ("meta", "data", "videos", layout.CLOUDS, "privileged")
"""The folders of a dataset; recordings and others beside them do not belong to it."""


@dataclass(frozen=True)
class Description:
    """A dataset in numbers.

    Attributes:
        tasks: the instructions and how many episodes each has.
        episodes: how many there are.
        frames: of all episodes.
        sizes: bytes of each of PARTS.
    """

    tasks: Mapping[str, int]
    episodes: int
    frames: int
    sizes: Mapping[str, int]


def describe(root: Path | str) -> Description:
    """Count and weigh a dataset. Errors: RuleSafeError if `root` is none."""
    store = EpisodeStore(root)
    tasks = Counter(episode.task for episode in store.episodes)
    sizes = {part: size_below(store.root / part) for part in PARTS}
    return Description(tasks, len(store), store.frames, sizes)


def manifest(root: Path | str) -> dict[str, Any]:
    """The size and SHA-256 of every file of a dataset, as JSON can hold them; an episode's cloud,
    which is many small files, counts as one.

    `{"version": 1, "episodes": 5, "frames": 3000, "digest": "...", "files": {"meta/info.json":
    {"bytes": 2711, "sha256": "..."}, ...}}`. Errors: RuleSafeError if `root` is no dataset.
    """
    store = EpisodeStore(root)
    files = {
        name: {"bytes": _bytes(paths), "sha256": _hash(store.root, paths)}
        for name, paths in _members(store.root).items()
    }
    return {
        "version": layout.OWN_VERSION,
        "episodes": len(store),
        "frames": store.frames,
        "digest": store.digest,
        "files": files,
    }


def check_manifest(root: Path | str, expected: dict[str, Any]) -> None:
    """Compare a dataset's files with a manifest.

    Errors: RuleSafeError that names the files that are missing, unexpected or different.
    """
    base = Path(root)
    there, files = _members(base), expected["files"]
    problems = [f"{name} is missing" for name in sorted(files.keys() - there.keys())]
    problems += [f"{name} is not expected" for name in sorted(there.keys() - files.keys())]
    for name in sorted(files.keys() & there.keys()):
        size = _bytes(there[name])
        if size != files[name]["bytes"]:
            problems.append(f"{name} has {size} bytes, not {files[name]['bytes']}")
        elif _hash(base, there[name]) != files[name]["sha256"]:
            problems.append(f"{name} has another content")
    if problems:
        shown = "; ".join(problems[:10]) + ("; ..." if len(problems) > 10 else "")
        raise RuleSafeError(f"{base} is not what the manifest says ({len(problems)}): {shown}")


def _members(root: Path) -> dict[str, list[Path]]:
    """The files that belong to a dataset, by the name they have in a manifest."""
    members: dict[str, list[Path]] = {}
    for part in PARTS:
        for path in files_below(root / part):
            names = path.relative_to(root).parts
            name = "/".join(names[:2] if part == layout.CLOUDS else names)
            members.setdefault(name, []).append(path)
    return members


def _bytes(paths: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def _hash(root: Path, paths: Sequence[Path]) -> str:
    """SHA-256 of a file; of several, that of the lines that sha256sum prints for them."""
    if len(paths) == 1:
        return sha256(paths[0])
    lines = [f"{sha256(path)}  {path.relative_to(root).as_posix()}\n" for path in sorted(paths)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
