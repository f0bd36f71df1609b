"""The film of README.md: two policies in the same episode, side by side."""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import av
import tyro
from PIL import Image, ImageDraw

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import draft_file
from rulesafe_data.films.frames import BACKGROUND, BAR, DONE, FAILED, LATER, QUIET, SIDE, TEXT, font
from rulesafe_data.films.strip import BAND
from rulesafe_data.layout import FPS
from rulesafe_eval import videos
from rulesafe_eval.request import ResultsFolder, load_request

WIDTH = 360
"""Width and height of each image, pixels."""

ROW = 22
"""Height of a row of text, pixels."""

PART = {"knob": "K", "handle": "H", "door": "D"}
"""Letters of the parts in the rows of plan and moves."""


def draw(
    first: Annotated[Path, tyro.conf.Positional],
    second: Annotated[Path, tyro.conf.Positional],
    image: Annotated[Path, tyro.conf.Positional],
    rule: str,
    number: int,
    labels: tuple[str, str] = ("without memory", "with VQ-Memory"),
    every: float = 0.4,
    speed: float = 4.0,
    quality: int = 40,
) -> None:
    """Draw an episode of two policies side by side, with its plan and their moves below.

    The film ends when the second policy has opened the door; below it are its tokens.

    Args:
        first: Results of `rulesafe eval`.
        second: Results of `rulesafe eval` of the same episodes.
        image: WebP file.
        rule: Rule of the episode.
        number: Its number.
        labels: Names of both policies.
        every: Time between two images, s.
        speed: Factor on the speed.
        quality: WebP quality.
    """
    lines = [_line(folder, rule, number) for folder in (first, second)]
    films = [_film(folder, line) for folder, line in zip((first, second), lines, strict=True)]
    frames = []
    for at, pair in enumerate(_sampled(films, every)):
        panels = [
            _panel(shown, line, label, at * every)
            for shown, line, label in zip(pair, lines, labels, strict=True)
        ]
        tokens = pair[1].crop((0, SIDE + BAR, 2 * SIDE, SIDE + BAR + BAND))
        canvas = Image.new("RGB", (2 * WIDTH, panels[0].height + BAND * WIDTH // SIDE), BACKGROUND)
        for column, panel in enumerate(panels):
            canvas.paste(panel, (column * WIDTH, 0))
        canvas.paste(_resized(tokens, 2 * WIDTH), (0, panels[0].height))
        frames.append(canvas)
    duration = round(1000 * every / speed)
    options = {"quality": quality, "method": 4, "duration": duration, "loop": 0}
    with draft_file(image) as draft:
        frames[0].save(draft, "WEBP", save_all=True, append_images=frames[1:], **options)


def _line(folder: Path, rule: str, number: int) -> dict[str, Any]:
    found = ResultsFolder(folder).lines().get((rule, number))
    if not found:
        raise RuleSafeError(f"{folder} has no episode {number} of {rule}")
    return found


def _film(folder: Path, line: Mapping[str, Any]) -> Path:
    """Return the film of an episode, which is recorded if there is none."""
    videos.make(load_request(folder), folder, [line], 1, "local")
    return videos.folder_of(folder, line["rule"], line["number"]) / "film.mp4"


def _sampled(films: list[Path], every: float) -> Iterator[list[Image.Image]]:
    """Yield the frames of both films at equal times, until the second one ends."""
    step = round(every * FPS)
    decoded = [islice(av.open(str(film)).decode(video=0), 0, None, step) for film in films]
    for pair in zip(*decoded, strict=False):
        yield [frame.to_image() for frame in pair]


def _panel(frame: Image.Image, line: Mapping[str, Any], label: str, time: float) -> Image.Image:
    """Return the front camera's image with label, plan and moves at a time of an episode, s."""
    panel = Image.new("RGB", (WIDTH, WIDTH + 2 * ROW + 6), BACKGROUND)
    panel.paste(_resized(frame.crop((0, 0, SIDE, SIDE)), WIDTH), (0, 0))
    draw_on = ImageDraw.Draw(panel)
    draw_on.rectangle([0, 0, WIDTH, 26], fill=BACKGROUND)
    draw_on.text((8, 13), label, font=font(15, True), fill=TEXT, anchor="lm")
    draw_on.text((WIDTH - 8, 13), f"{time:.0f} s", font=font(13), fill=QUIET, anchor="rm")
    done = sum(reached is not None and reached <= time * FPS for reached in line["reached"])
    tags = [(_short(event), DONE if at < done else LATER) for at, event in enumerate(line["plan"])]
    _row(draw_on, "plan", tags, WIDTH + 4)
    made = [event for event in line["events"] if event["time"] <= time]
    right = [round(each["time"] * FPS) in line["reached"] for each in made]
    moves = [
        (_short(each["event"]), DONE if progress else FAILED)
        for each, progress in zip(made, right, strict=True)
    ]
    _row(draw_on, "moves", moves[-9:], WIDTH + ROW + 6)
    return panel


def _row(draw_on: ImageDraw.ImageDraw, name: str, tags: list[tuple[str, Any]], top: int) -> None:
    draw_on.text((8, top + ROW / 2), name, font=font(11), fill=QUIET, anchor="lm")
    for column, (text, colour) in enumerate(tags):
        left = 52 + 34 * column
        draw_on.rounded_rectangle([left, top + 1, left + 30, top + ROW - 2], 4, fill=colour)
        middle = (left + 15, top + ROW / 2)
        draw_on.text(middle, text, font=font(11, True), fill=TEXT, anchor="mm")


def _short(event: str) -> str:
    return PART[event[:-1]] + event[-1].replace("-", "−")


def _resized(image: Image.Image, width: int) -> Image.Image:
    height = round(image.height * width / image.width)
    return image.resize((width, height), Image.Resampling.LANCZOS)
