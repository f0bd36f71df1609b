"""`rulesafe safes import`, `check` and `export`."""

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import printable
from rulesafe_sim.safes import load_safe

SafeId = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SAFE")]
UrdfPath = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="URDF")]


def import_safe(
    urdf: UrdfPath,
    out: Path,
    mapping: Path | None = None,
    root: Path | None = None,
    overwrite: bool = False,
) -> int:
    """Import a URDF with meshes as a safe.

    Parts, joints, scale and grasps are proposed and written to mapping.yaml in the folder of the
    meshes; points.png there shows them. docs/import_safe.md explains the mapping.

    Example: rulesafe safes import mobility.urdf --out my_safe.yaml

    Args:
        urdf: URDF file; semantics.txt beside it is read too.
        out: File of the safe, NAME.yaml. Meshes are written into the folder NAME beside it.
        mapping: Edited mapping of an earlier import, instead of a proposed one.
        root: Folder that contains URDF and meshes, if that is not the folder of the URDF.
        overwrite: Replace an existing file.
    """
    from rulesafe_urdf.importing import DRAWING, import_urdf

    for path in (out, out.with_suffix("")):
        if path.exists() and not overwrite:
            raise RuleSafeError(f"{path} exists; add --overwrite to replace it")
    done = import_urdf(urdf, out, mapping, root)
    console = Console(markup=False, highlight=False, soft_wrap=True)
    for line in (*done.lines, *(f"note: {note}" for note in done.notes)):
        console.print(printable(line))
    folder = out.with_suffix("")
    if done.fault:
        console.print(printable(f"wrote {out}, which is not valid yet: {done.fault}"))
        console.print(f"edit {folder}/mapping.yaml and import again with --mapping")
        return 1
    console.print(f"wrote {out} and {folder}; {folder}/{DRAWING} shows its points and axes")
    console.print(f"next: rulesafe safes check {out}")
    return 0


def check(safe: SafeId, rule: str = "rule_001", poses: int = 10, seed: int = 0) -> int:
    """Check that a safe can be used: its file, phases, grasps and poses, and that the expert opens
    it. The exit code is 1 if a check fails.

    Example: rulesafe safes check my_safe.yaml

    Args:
        safe: Id of a safe, such as safe_03, or path of a YAML file.
        rule: Rule that the expert solves.
        poses: Number of poses of the split nominal.
        seed: Seed of the first pose.
    """
    from rulesafe_urdf.check import check_file

    if poses < 1 or seed < 0:
        raise RuleSafeError(f"poses is {poses} and seed is {seed}; valid: 1 or more, 0 or more")
    console = Console(markup=False, highlight=False, soft_wrap=True)
    failed = 0
    for finding in check_file(safe, rule, poses, seed):
        failed += not finding.passed
        state = "ok  " if finding.passed else "FAIL"
        console.print(printable(f"[{state}] {finding.check}: {finding.detail}"))
    return int(failed > 0)


def export(safe: SafeId, out: Path) -> None:
    """Export a safe as URDF with meshes, for other simulators.

    Example: rulesafe safes export safe_03 --out safe_03

    Args:
        safe: Id of a safe, such as safe_03, or path of a YAML file.
        out: New or empty folder.
    """
    from rulesafe_urdf.export import export_safe

    print(export_safe(load_safe(safe), out))
