"""Pictures of the annotations: `python -m planner_node.draw --safe safe_03 --hand pinch`."""

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro
from PIL import Image

from planner_node.hand import operation
from planner_node.sheets import hand_sheet, safe_sheet, stack
from rulesafe_core.errors import RuleSafeError
from rulesafe_sim.safes import load_safe

FORMATS = (".png", ".jpg", ".webp")


@dataclass(frozen=True)
class DrawOptions:
    """Draws key points, axes and motions over pictures of the robot's right hand, of a safe, or of
    both: the very data that the planner reads."""

    hand: str = ""
    """A hand operation: open, pre_pinch, pinch, release, pre_grasp, grasp or hook."""
    safe: str = ""
    """A safe's id, such as safe_03, or the path of a YAML file."""
    out: Path = Path("annotations.png")
    """The picture to write: .png, .jpg or .webp."""


def figure(hand: str = "", safe: str = "") -> Image.Image:
    """The figure of a hand operation, of a safe, or of one above the other.

    Errors: RuleSafeError for unknown names, where nothing is named, and without a Vulkan driver.
    """
    if not hand and not safe:
        raise RuleSafeError(
            "nothing to draw: name a hand operation (--hand pinch), a safe (--safe safe_03) or both"
        )
    done = operation(hand) if hand else None
    shown = load_safe(safe) if safe else None
    sheets = [hand_sheet(done)] if done else []
    sheets += [safe_sheet(shown)] if shown else []
    return stack(sheets)


def save(image: Image.Image, path: Path) -> None:
    """Writes a picture. Errors: RuleSafeError for a path that cannot be written."""
    if path.suffix not in FORMATS:
        raise RuleSafeError(f"{path}: a picture's name ends in one of {', '.join(FORMATS)}")
    try:
        image.save(path, quality=88)
    except OSError as error:
        raise RuleSafeError(f"cannot write {path}: {error}") from error


def main(argv: list[str] | None = None) -> int:
    """The command; the exit code, 2 for what the user can mend."""
    options = tyro.cli(DrawOptions, args=argv, prog="python -m planner_node.draw")
    try:
        save(figure(options.hand, options.safe), options.out)
    except RuleSafeError as error:
        print(f"draw: {error}", file=sys.stderr)
        return 2
    print(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
