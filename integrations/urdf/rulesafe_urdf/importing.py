"""The import of a safe: read, propose or read the mapping, build, measure phases, draw."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from rulesafe_core.errors import RuleSafeError
from rulesafe_sim.safes import read_safe
from rulesafe_urdf.build import build_safe, describe, write_safe
from rulesafe_urdf.draw import figure, save
from rulesafe_urdf.mapping import SafeMapping, read_mapping, rounded
from rulesafe_urdf.obj_writer import MARKER, check_folder
from rulesafe_urdf.phases import measured
from rulesafe_urdf.propose import propose
from rulesafe_urdf.source import UrdfSource, read_source

DRAWING = "points.png"


@dataclass
class Imported:
    """Result of an import.

    `lines`: description of the safe. `notes`: what was changed or assumed. `fault`: why the safe
    cannot be used yet; empty if it can.
    """

    file: Path
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    fault: str = ""


def import_urdf(
    urdf: Path, out: Path, mapping: Path | None = None, root: Path | None = None
) -> Imported:
    """Import a URDF as a safe.

    Args:
        urdf: the URDF file.
        out: file of the safe, NAME.yaml; meshes are written into the folder NAME beside it.
        mapping: file of the mapping; None: it is proposed.
        root: folder that contains URDF and meshes; None: the folder of the URDF.

    Raises:
        RuleSafeError: the URDF, a mesh or the mapping is not valid. Nothing is written then.
    """
    if out.suffix != ".yaml":
        raise RuleSafeError(f"{out}: the file of a safe must end in .yaml")
    folder = out.with_suffix("").resolve()
    if folder in (urdf.resolve().parent, *urdf.resolve().parents):
        raise RuleSafeError(
            f"{urdf} is in {folder}, the folder that is written: choose another --out"
        )
    check_folder(folder)
    source = read_source(urdf, root)
    result = Imported(out, notes=list(source.notes))
    if mapping is None:
        try:
            proposal = propose(source)
        except RuleSafeError as error:
            raise RuleSafeError(f"{urdf}: {error}") from error
        choice = rounded(proposal.mapping)
        result.notes += proposal.notes
        _check_unedited(folder / MARKER, choice)
    else:
        choice = read_mapping(mapping)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=out.parent, prefix=f".{out.stem}-") as temporary:
            _write(result, source, choice, Path(temporary, out.name), urdf.name)
            # The file of the safe comes last, since it makes the import complete.
            out.unlink(missing_ok=True)
            shutil.rmtree(out.with_suffix(""), ignore_errors=True)
            for path in (out.with_suffix(""), out):
                Path(temporary, path.name).rename(path)
    except OSError as error:
        raise RuleSafeError(f"cannot write {error.filename}: {error.strerror}") from error
    return result


def _write(
    result: Imported, source: UrdfSource, choice: SafeMapping, draft: Path, urdf: str
) -> None:
    """Write the file of a safe, `draft`, and the folder beside it; describe them in `result`."""
    about = build_safe(source, choice, draft)
    write_safe(about, choice, draft, urdf)
    result.lines += [f"{name}: {line}" for name, line in describe(about).items()]
    try:
        safe = read_safe(draft)
    except RuleSafeError as error:
        result.fault = str(error).replace(str(draft), str(result.file))
        return
    try:
        about, differences = measured(about, safe)
        write_safe(about, choice, draft, urdf)
        save(figure(safe=str(draft)), draft.with_suffix("") / DRAWING)
    except RuleSafeError as error:
        result.notes.append(f"phases were not measured, and points not drawn: {error}")
        return
    for name, difference in differences.items():
        part = getattr(about.parts, name)
        shown = "visible" if part.shape.phase_visible else "hidden"
        result.lines.append(f"phase of the {name}: {shown} ({difference:.1%} of its pixels differ)")


def _check_unedited(path: Path, proposed: SafeMapping) -> None:
    """Raise RuleSafeError if the mapping of an earlier import differs from the proposed one: it may
    have been edited."""
    if path.is_file() and read_mapping(path) != proposed:
        raise RuleSafeError(
            f"{path} differs from the proposed mapping: add --mapping {path} to use it, or delete "
            "it to use the proposed one"
        )
