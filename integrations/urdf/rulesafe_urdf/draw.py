"""Annotated images of safes and of the hand: `python -m rulesafe_urdf.draw --safe safe_03`."""

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro
from PIL import Image

from planner_node.hand import operation
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import draft_file
from rulesafe_sim.safes import load_safe
from rulesafe_urdf.sheets import hand_sheet, safe_sheet, stack

FORMATS = (".png", ".jpg", ".webp")


@dataclass(frozen=True)
class DrawOptions:
    """Draw key points, axes and motions over images of the robot's right hand, a safe, or both.

    The drawing uses the same data as the planner."""

    hand: str = ""
    """A hand operation: open, pre_pinch, pinch, release, pre_grasp, grasp or hook."""
    safe: str = ""
    """A safe's id, such as safe_03, or the path of a YAML file."""
    out: Path = Path("annotations.png")
    """Output image: .png, .jpg or .webp."""


def figure(hand: str = "", safe: str = "") -> Image.Image:
    """Return the figure of a hand operation, of a safe, or of both, one above the other.

    Raises:
        RuleSafeError: for unknown names, or if both names are empty.
    """
    if not hand and not safe:
        raise RuleSafeError(
            "nothing to draw: give a hand operation (--hand pinch), a safe (--safe safe_03) or both"
        )
    posture = operation(hand) if hand else None
    shown = load_safe(safe) if safe else None
    sheets = [hand_sheet(posture)] if posture else []
    sheets += [safe_sheet(shown)] if shown else []
    return stack(sheets)


def save(image: Image.Image, path: Path) -> None:
    """Write an image. Raises RuleSafeError if the path cannot be written."""
    if path.suffix not in FORMATS:
        raise RuleSafeError(f"{path}: the file name must end in one of {', '.join(FORMATS)}")
    try:
        with draft_file(path) as draft:
            image.save(draft, Image.registered_extensions()[path.suffix], quality=88)
    except OSError as error:
        raise RuleSafeError(f"cannot write {path}: {error}") from error


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit code; 2 for an error that the user can correct."""
    options = tyro.cli(DrawOptions, args=argv, prog="python -m rulesafe_urdf.draw")
    try:
        save(figure(options.hand, options.safe), options.out)
    except RuleSafeError as error:
        print(f"draw: {error}", file=sys.stderr)
        return 2
    print(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
