"""Contents of a dataset: counts, sizes, and hashes of all files."""

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
"""The folders of a dataset; other folders in its root, such as recordings, are not part of it."""


@dataclass(frozen=True)
class Description:
    """Summary of a dataset.

    Attributes:
        tasks: number of episodes by instruction.
        episodes: number of episodes.
        frames: number of frames of all episodes.
        sizes: bytes of each of PARTS.
    """

    tasks: Mapping[str, int]
    episodes: int
    frames: int
    sizes: Mapping[str, int]


def describe(root: Path | str) -> Description:
    """Summarise a dataset; raise RuleSafeError if `root` is not a dataset."""
    store = EpisodeStore(root)
    tasks = Counter(episode.task for episode in store.episodes)
    sizes = {part: size_below(store.root / part) for part in PARTS}
    return Description(tasks, len(store), store.frames, sizes)


def manifest(root: Path | str) -> dict[str, Any]:
    """Return a manifest with the size and SHA-256 of every file of a dataset, as plain JSON data.

    The many small files of an episode's point clouds are listed as one entry. Example:
    `{"version": 1, "episodes": 5, "frames": 3000, "digest": "...", "files": {"meta/info.json":
    {"bytes": 2711, "sha256": "..."}, ...}}`. Raises RuleSafeError if `root` is not a dataset.
    """
    store = EpisodeStore(root)
    files = {
        name: {"bytes": _bytes(paths), "sha256": _hash(store.root, paths)}
        for name, paths in _members(store.root).items()
    }
    return {
        "version": store.version,
        "episodes": len(store),
        "frames": store.frames,
        "digest": store.digest,
        "files": files,
    }


def check_manifest(root: Path | str, expected: dict[str, Any]) -> None:
    """Compare a dataset's files with a manifest.

    Raises:
        RuleSafeError: files are missing, unexpected or different; the message lists them.
    """
    base = Path(root)
    present, files = _members(base), expected["files"]
    problems = [f"{name} is missing" for name in sorted(files.keys() - present.keys())]
    problems += [f"{name} is not in the manifest" for name in sorted(present.keys() - files.keys())]
    for name in sorted(files.keys() & present.keys()):
        size = _bytes(present[name])
        if size != files[name]["bytes"]:
            problems.append(f"{name} has {size} bytes, not {files[name]['bytes']}")
        elif _hash(base, present[name]) != files[name]["sha256"]:
            problems.append(f"{name} has a different SHA-256")
    if problems:
        shown = "; ".join(problems[:10]) + ("; ..." if len(problems) > 10 else "")
        raise RuleSafeError(f"{base} differs from the manifest ({len(problems)}): {shown}")


def _members(root: Path) -> dict[str, list[Path]]:
    """Return the files of a dataset by their names in a manifest."""
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
    """Return the SHA-256 of one file, or of the output of sha256sum for several files."""
    if len(paths) == 1:
        return sha256(paths[0])
    lines = [f"{sha256(path)}  {path.relative_to(root).as_posix()}\n" for path in sorted(paths)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
