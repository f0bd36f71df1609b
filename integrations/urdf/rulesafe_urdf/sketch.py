"""Arrows, points, arcs and labels over an image, with PIL; coordinates are in pixels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import atan2, cos, hypot, pi, sin

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw, ImageFont

Color = tuple[int, int, int]
Box = tuple[float, float, float, float]  # left, top, right, bottom

INK: Color = (28, 32, 38)
QUIET: Color = (96, 104, 114)
HALO: Color = (255, 255, 255)


@lru_cache
def font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the typeface that comes with PIL."""
    return ImageFont.load_default(size)


@dataclass(frozen=True)
class _Label:
    text: str
    anchor: tuple[float, float]
    color: Color
    away: float  # preferred direction, rad


class Sketch:
    """Draws over an image; `line` is the line width in pixels and scales everything else.

    `finish` places the labels last, so that they do not cover the drawing.
    """

    def __init__(self, image: NDArray[np.uint8], line: float):
        self.image = Image.fromarray(image)
        self._draw = ImageDraw.Draw(self.image)
        self._line = line
        self._font = font(5.2 * line)
        self._labels: list[_Label] = []
        self._taken: list[Box] = []

    def polyline(self, points: ArrayLike, color: Color, width: float = 1.0) -> None:
        """Draw a line through points (N, 2) with a light outline, visible on any background."""
        path = [(float(x), float(y)) for x, y in np.asarray(points, float)]
        self._draw.line(path, HALO, round((width + 0.9) * self._line), joint="curve")
        self._draw.line(path, color, round(width * self._line), joint="curve")
        for (x, y), (u, v) in pairwise(path):
            count = max(1, round(hypot(u - x, v - y) / (8 * self._line)))
            for i in range(count + 1):
                self._take(x + (u - x) * i / count, y + (v - y) * i / count, 3 * self._line)

    def dashed(self, ends: ArrayLike, color: Color) -> None:
        """Draw a dashed line between two points, `ends` (2, 2)."""
        start, end = np.asarray(ends, float)
        count = max(1, round(float(np.linalg.norm(end - start)) / (7 * self._line)))
        for i in range(count):
            share = np.array([i, i + 0.55]) / count
            self.polyline(start + share[:, None] * (end - start), color)

    def arrow(self, points: ArrayLike, color: Color, text: str = "") -> None:
        """Draw an arrow along points (N, 2), with a label at its tip."""
        path = np.asarray(points, float)
        tip = path[-1]
        direction = _direction(path)
        if direction is None:  # the axis points at the viewer
            self.dot(tip, color, text)
            return
        length, half = 6.5 * self._line, 3.2 * self._line
        base, across = tip - length * direction, np.array([-direction[1], direction[0]])
        shaft = np.vstack([path[:-1][np.linalg.norm(path[:-1] - tip, axis=1) > length], base])
        if len(shaft) > 1:
            self.polyline(shaft, color, 1.4)
        head = [tip, base + half * across, base - half * across]
        self._draw.polygon(
            [tuple(corner) for corner in head], color, HALO, max(1, round(self._line / 3))
        )
        self._take(float(tip[0]), float(tip[1]), 5 * self._line)
        if text:
            self.label(text, tip, color, atan2(direction[1], direction[0]))

    def dot(self, point: ArrayLike, color: Color, text: str = "", away: float = -pi / 4) -> None:
        """Draw a ringed dot at a point (2,), its label preferably in direction `away` (rad)."""
        x, y = (float(v) for v in np.asarray(point, float))
        for radius, fill in ((3.4, HALO), (2.6, color), (0.9, HALO)):
            r = radius * self._line
            self._draw.ellipse([x - r, y - r, x + r, y + r], fill)
        self._take(x, y, 3.6 * self._line)
        if text:
            self.label(text, (x, y), color, away)

    def label(self, text: str, anchor: ArrayLike, color: Color, away: float = 0.0) -> None:
        """Add a label near a point (2,), preferably in direction `away` (rad, y down)."""
        x, y = (float(v) for v in np.asarray(anchor, float))
        self._labels.append(_Label(text, (x, y), color, away))

    def corner(self, text: str, color: Color) -> None:
        """Write a text in the lower left corner of the image."""
        where = 5 * self._line, self.image.height - 5 * self._line
        self._written(where, text, color, "ls")
        self._taken.append((0, where[1] - 8 * self._line, where[0] + 90 * self._line, 1e9))

    def finish(self) -> Image.Image:
        """Place the labels and return the image."""
        for label in self._labels:
            self._place(label)
        self._labels.clear()
        return self.image

    def _place(self, label: _Label) -> None:
        width = float(self._font.getlength(label.text)) + 2 * self._line
        height = 7.0 * self._line
        best: tuple[float, Box, tuple[float, float]] | None = None
        for distance in (7, 11, 16, 23, 32):
            for turn in (0.0, 0.4, -0.4, 0.8, -0.8, 1.3, -1.3, 1.9, -1.9, 2.5, -2.5, pi):
                angle = label.away + turn
                reach = distance * self._line
                x = label.anchor[0] + (reach + width / 2 * abs(cos(angle))) * cos(angle)
                y = label.anchor[1] + reach * sin(angle)
                box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
                cost = self._overlap(box) + 0.4 * abs(turn) + 0.05 * distance
                if best is None or cost < best[0]:
                    best = cost, box, (x, y)
        assert best is not None
        _, box, middle = best
        near = np.clip(label.anchor, box[:2], box[2:])
        lead = near - label.anchor
        length = float(np.linalg.norm(lead))
        if length > 10 * self._line:
            begin = label.anchor + lead * (4 * self._line / length)
            ends = [(float(x), float(y)) for x, y in (begin, near)]
            self._draw.line(ends, label.color, max(1, round(self._line / 2)))
        self._written(middle, label.text, label.color, "mm")
        self._taken.append(box)

    def _written(self, at: tuple[float, float], text: str, color: Color, anchor: str) -> None:
        rim = max(1, round(0.9 * self._line))
        self._draw.text(at, text, color, self._font, anchor, stroke_width=rim, stroke_fill=HALO)

    def _overlap(self, box: Box) -> float:
        """Return how much of a box is occupied or outside the image; 0 if it is free."""
        width, height = self.image.size
        out = max(0.0, -box[0], -box[1], box[2] - width, box[3] - height)
        taken = sum(_common(box, other) for other in self._taken)
        return 30.0 * out / self._line + 12.0 * taken / (self._line * self._line * 60)

    def _take(self, x: float, y: float, half: float) -> None:
        self._taken.append((x - half, y - half, x + half, y + half))


def _direction(path: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the unit vector of the path's end, or None if the path is only a few pixels long."""
    for point in path[-2::-1]:
        length = np.linalg.norm(path[-1] - point)
        if length > 4:
            return (path[-1] - point) / length
    return None


def _common(a: Box, b: Box) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    return width * height if width > 0 and height > 0 else 0.0


@dataclass(frozen=True)
class Key:
    """An entry of a legend: the mark "arrow", "dot" or "axis", and its meaning."""

    mark: str
    color: Color
    text: str


def caption(
    width: int, title: str, lines: Sequence[str], keys: Sequence[Key], line: float
) -> Image.Image:
    """Return a title, lines of text and a legend in two columns, as wide as the images below."""
    row = 8.5 * line
    rows = (len(keys) + 1) // 2
    height = round(11 * line + row * (len(lines) + rows) + 4 * line)
    image = Image.new("RGB", (width, height), HALO)
    draw = ImageDraw.Draw(image)
    left, y = 8 * line, 7.5 * line
    draw.text((left, y), title, INK, font(7.5 * line), anchor="lm")
    y += 10 * line
    for text in lines:
        draw.text((left, y), text, QUIET, font(5.2 * line), anchor="lm")
        y += row
    sample = Sketch(np.asarray(image), line)
    for number, key in enumerate(keys):
        x = left + (number % 2) * (width - left) / 2
        at = y + (number // 2) * row
        ends = [(x, at), (x + 14 * line, at)]
        if key.mark == "dot":
            sample.dot((x + 7 * line, at), key.color)
        elif key.mark == "axis":
            sample.dashed(ends, key.color)
        else:
            sample.arrow(ends, key.color)
        where = (x + 18 * line, at)
        ImageDraw.Draw(sample.image).text(where, key.text, INK, font(5.2 * line), anchor="lm")
    return sample.finish()
