"""Frames of a video and contact sheet (PNG) of an episode, from images and facts. No ROS here.

Example::

    with VideoFile(Path("film.mp4")) as film:
        film.add(compose({"head": head_image, "front": front_image}, snapshot, instruction))
"""

import textwrap
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from rulesafe_core.files import draft_file
from rulesafe_sim.episode import TaskSnapshot

RgbImage = NDArray[np.uint8]  # (H, W, 3)

SIDE = 480  # pixels of each of the two images
BAR = 112  # pixels of the caption below them
MARGIN = 16

BACKGROUND = (17, 20, 24)
TEXT = (236, 238, 240)
QUIET = (150, 157, 166)
DONE = (46, 139, 87)
DUE = (214, 158, 46)
FAILED = (190, 70, 60)
LATER = (58, 64, 72)

WORDS = {"+": "open", "-": "close"}


@lru_cache
def font(size: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Return the font of all texts in a video, `size` pixels high."""
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"  # comes with matplotlib
    return ImageFont.truetype(str(Path(matplotlib.get_data_path(), "fonts/ttf", name)), size)


def in_words(event: str) -> str:
    """Return an event as text: "knob+" as "open knob"."""
    return f"{WORDS[event[-1]]} {event[:-1]}"


def compose(
    images: dict[str, RgbImage], now: TaskSnapshot, instruction: str, verdict: str = ""
) -> RgbImage:
    """Return a frame of the video (SIDE + BAR, 2 SIDE, 3).

    The images of the cameras are side by side, front before head; below them are the rule, its
    instruction, the plan with the completed steps, and the time. `verdict`: text of the last frame.
    """
    canvas = Image.new("RGB", (2 * SIDE, SIDE + BAR), BACKGROUND)
    canvas.paste(_side_by_side(images, SIDE))
    draw, side = ImageDraw.Draw(canvas), _width(images, SIDE)
    for column, name in enumerate(reversed(images)):
        _label(canvas, (column * side + 10, 10), f"{name} camera")
        if column:
            draw.line([(column * side, 0), (column * side, SIDE)], fill=BACKGROUND, width=2)
    top = SIDE + 10
    draw.text((MARGIN, top), now.rule, font=font(17, True), fill=TEXT)
    left = MARGIN + draw.textlength(now.rule, font=font(17, True)) + 12
    if now.safe:  # empty on a real robot
        draw.text((left, top + 2), f"{now.safe}, seed {now.seed}", font=font(14), fill=QUIET)
    clock = f"{now.time:5.1f} s"
    draw.text((2 * SIDE - MARGIN, top), clock, font=font(17, True), fill=TEXT, anchor="ra")
    if verdict:
        right = 2 * SIDE - MARGIN - draw.textlength(clock, font=font(17, True)) - 14
        color = DONE if now.success else FAILED
        width = draw.textlength(verdict, font=font(14, True)) + 20
        draw.rounded_rectangle([right - width, top - 3, right, top + 22], 12, fill=color)
        middle = (right - width / 2, top + 9)
        draw.text(middle, verdict, font=font(14, True), fill=TEXT, anchor="mm")
    lines = textwrap.wrap(instruction, 126, max_lines=2, placeholder=" ...")
    for i, line in enumerate(lines):
        draw.text((MARGIN, top + 26 + 17 * i), line, font=font(13), fill=QUIET)
    _steps(draw, now, SIDE + BAR - 36)
    return np.asarray(canvas)


def _steps(draw: ImageDraw.ImageDraw, now: TaskSnapshot, top: int) -> None:
    """Draw the plan as a row of tags: completed, next, later."""
    count = len(now.plan)
    if not count:
        return
    gap, height = 6, 26
    width = min(150.0, (2 * SIDE - 2 * MARGIN - gap * (count - 1)) / count)
    size = 13 if width > 130 else 12 if width > 110 else 10
    for i, event in enumerate(now.plan):
        left = MARGIN + i * (width + gap)
        done, due = i < now.steps_done, i == now.steps_done
        box = [left, top, left + width, top + height]
        draw.rounded_rectangle(
            box,
            6,
            fill=DONE if done else BACKGROUND if due else LATER,
            outline=DONE if done else DUE if due else LATER,
            width=2,
        )
        words = f"{'✓' if done else i + 1}  {in_words(event)}"
        color = TEXT if done else DUE if due else QUIET
        middle = (left + width / 2, top + height / 2)
        draw.text(middle, words, font=font(size, due and size > 12), fill=color, anchor="mm")


def _label(canvas: Image.Image, where: tuple[int, int], text: str) -> None:
    """Draw small light text on a dark, semi-transparent background."""
    small = font(12)
    width = int(small.getlength(text)) + 14
    plate = Image.new("RGB", (width, 22), BACKGROUND)
    ImageDraw.Draw(plate).text((7, 11), text, font=small, fill=TEXT, anchor="lm")
    region = canvas.crop((where[0], where[1], where[0] + width, where[1] + 22))
    canvas.paste(Image.blend(region, plate, 0.65), where)


def _resized(camera_image: RgbImage, side: int) -> Image.Image:
    image = Image.fromarray(camera_image)
    if image.size == (side, side):
        return image
    return image.resize((side, side), Image.Resampling.LANCZOS)


def _width(images: dict[str, RgbImage], side: int) -> int:
    """Return the width of each image of a row that is 2 `side` wide."""
    return 2 * side // max(len(images), 2)


def _side_by_side(images: dict[str, RgbImage], side: int) -> Image.Image:
    """Return a row of images (side, 2 side, 3), the last camera first."""
    row, width = Image.new("RGB", (2 * side, side), BACKGROUND), _width(images, side)
    for column, name in enumerate(reversed(images)):
        row.paste(_resized(images[name], width), (column * width, (side - width) // 2))
    return row


@dataclass(frozen=True)
class Tile:
    """An entry of the contact sheet: images of the cameras (TILE, 2 TILE, 3) and the event."""

    image: Image.Image
    time: float  # s
    caption: str


class ContactSheet:
    """A contact sheet: one tile at the start, at each phase change and at the end."""

    TILE = 250  # pixels of each image

    def __init__(self) -> None:
        self.tiles: list[Tile] = []

    def add(self, images: dict[str, RgbImage], time: float, caption: str) -> None:
        self.tiles.append(Tile(_side_by_side(images, self.TILE), time, caption))

    def save(self, path: Path, title: str, instruction: str) -> None:
        """Write the sheet as PNG."""
        columns = 2 if len(self.tiles) <= 6 else 3
        rows = -(-len(self.tiles) // columns)
        wide, high = 2 * self.TILE + MARGIN, self.TILE + 40
        size = (columns * wide + MARGIN, rows * high + 84)
        canvas = Image.new("RGB", size, BACKGROUND)
        draw = ImageDraw.Draw(canvas)
        draw.text((MARGIN, 14), title, font=font(18, True), fill=TEXT)
        lines = textwrap.wrap(instruction, size[0] // 8, max_lines=2, placeholder=" ...")
        for i, line in enumerate(lines):
            draw.text((MARGIN, 40 + 17 * i), line, font=font(13), fill=QUIET)
        for i, tile in enumerate(self.tiles):
            left, top = MARGIN + i % columns * wide, 80 + i // columns * high
            canvas.paste(tile.image, (left, top))
            draw.text((left, top + self.TILE + 6), tile.caption, font=font(14, True), fill=TEXT)
            right = left + 2 * self.TILE
            clock = f"{tile.time:.1f} s"
            draw.text((right, top + self.TILE + 6), clock, font=font(14), fill=QUIET, anchor="ra")
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft_file(path) as draft:
            canvas.save(draft, "PNG")
