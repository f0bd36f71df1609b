"""`rulesafe safes`: list the safes, or show one."""

from collections.abc import Callable
from math import degrees
from typing import Annotated, Literal

import tyro
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rulesafe_core.text_files import read_text
from rulesafe_sim.safe import RotaryPart, Safe
from rulesafe_sim.safes import SAFES, load_safe, safe_file

SafeId = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SAFE")]


def list_safes() -> None:
    """List the built-in safes.

    Example: rulesafe safes list
    """
    table = Table(title="Safes (ranges in degrees)")
    for column in ("safe", "title", "hinge", "knob", "handle", "phase visible"):
        table.add_column(column, no_wrap=column == "safe")
    for safe in map(load_safe, SAFES):
        visible = [name for name, part in safe.turners.items() if part.phase_visible]
        table.add_row(
            safe.id,
            safe.title,
            safe.hinge,
            _turner(safe.knob),
            _turner(safe.handle),
            ", ".join(visible) or "no",
        )
    Console(markup=False).print(table)


def show(safe: SafeId, format: Literal["table", "yaml"] = "table") -> None:
    """Show the dimensions, joints and parts of a safe.

    Example: rulesafe safes show safe_03

    Args:
        safe: Id of a safe, such as safe_03, or path of a YAML file.
        format: Print a table, or the YAML file as a template for a custom safe.
    """
    found = load_safe(safe)
    if format == "yaml":
        print(read_text(safe_file(safe)), end="")
        return
    _print_safe(found, Console(highlight=False, markup=False))


def _print_safe(safe: Safe, console: Console) -> None:
    case = safe.case
    console.print(Text.assemble((safe.id, "bold"), "  ", safe.title))
    console.print(
        f"{case.width:g} x {case.height:g} x {case.depth:g} m (width, height, depth), "
        f"hinge on the {safe.hinge}"
    )
    table = Table("", *safe.parts)
    rows = {
        "shape": lambda part: type(part.shape).__name__.lower() if _is_turner(part) else "",
        "range (deg)": lambda part: f"{degrees(part.range):g}",
        "open above": lambda part: f"{part.open_above:.0%}",
        "closed below": lambda part: f"{part.closed_below:.0%}",
        "phase visible": lambda part: ("no", "yes")[part.phase_visible] if _is_turner(part) else "",
        "damping (N m s/rad)": lambda part: f"{part.damping:g}",
        "detent (N m)": lambda part: f"{part.detent:g}",
        "spring (N m)": lambda part: f"{part.spring:g}",
        "mass (kg)": lambda part: f"{part.mass:g}",
    }
    for name, cell in rows.items():
        table.add_row(name, *(cell(part) for part in safe.parts.values()))
    console.print(table)


def _is_turner(part: object) -> bool:
    return isinstance(part, RotaryPart)


def _turner(part: RotaryPart) -> str:
    return f"{type(part.shape).__name__.lower()} {degrees(part.range):g}"


SUBCOMMANDS: dict[str, Callable[..., None]] = {"list": list_safes, "show": show}
