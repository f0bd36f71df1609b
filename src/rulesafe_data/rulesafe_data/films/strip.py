"""The strip below a video's images: the memory of a policy, one square per token. No ROS here.

Example::

    film.add(with_strip(compose(images, snapshot, instruction), tokens))
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.films.colours import cluster_colours
from rulesafe_data.films.frames import BACKGROUND, LATER, MARGIN, QUIET, SIDE, TEXT, RgbImage, font

BAND = 56
"""Height in pixels of the strip with its legend; even, as the video's format requires."""

TOP = 24
"""Height in pixels of the legend above the squares."""

PITCH = (8, 24)
"""Smallest and largest distance between squares, in pixels, including GAP. All are even, since the
video format stores colours at half the resolution (4:2:0 chroma subsampling)."""

GAP = 2


@dataclass(frozen=True)
class Tokens:
    """The contents of a token memory at one instant.

    Attributes:
        values: (M,) tokens 0 .. vocabulary - 1, oldest first.
        mask: (M,) True for the observed ones.
        vocabulary: J.
        seconds: time between two tokens, s.

    Raises:
        RuleSafeError: if tokens and mask differ in length, or a token is outside the vocabulary.
    """

    values: NDArray[np.int64]
    mask: NDArray[np.bool_]
    vocabulary: int
    seconds: float

    def __post_init__(self) -> None:
        values, mask = self.values, self.mask
        if values.shape != mask.shape or values.ndim != 1 or not len(values):
            raise RuleSafeError(
                f"tokens {values.shape} and mask {mask.shape} must have the same shape (M,), M > 0"
            )
        if values.min() < 0 or values.max() >= self.vocabulary:
            raise RuleSafeError(
                f"tokens must be in 0..{self.vocabulary - 1}, got {values.min()}..{values.max()}"
            )

    def emptied(self) -> "Tokens":
        """Return a copy in which all tokens are masked, as before the first observation."""
        return replace(self, values=np.zeros_like(self.values), mask=np.zeros_like(self.mask))


def with_strip(image: RgbImage, tokens: Tokens | None) -> RgbImage:
    """Return an image (H, 2 SIDE, 3) with the strip below it, (H + BAND, 2 SIDE, 3); without tokens
    it is unchanged."""
    return image if tokens is None else np.vstack([image, strip(tokens)])


def squares(length: int) -> list[tuple[int, int]]:
    """Return the left edge and the exclusive right edge of each square, oldest first, in pixels. In
    a very long memory only the newest tokens have a square."""
    least, most = PITCH
    room = 2 * SIDE - 2 * MARGIN + GAP
    pitch = min(max(room // max(length, 1) // 2 * 2, least), most)
    lefts = [MARGIN + pitch * i for i in range(min(length, room // pitch))]
    return [(left, left + pitch - GAP) for left in lefts]


def strip(tokens: Tokens) -> RgbImage:
    """Return the strip (BAND, 2 SIDE, 3). A token that was not observed is an empty square."""
    canvas = Image.new("RGB", (2 * SIDE, BAND), BACKGROUND)
    draw = ImageDraw.Draw(canvas)
    places = squares(len(tokens.mask))
    _legend(draw, tokens, len(places))
    colours = np.round(255 * cluster_colours(tokens.vocabulary)[:, :3]).astype(int)
    newest = slice(-len(places), None)
    side = places[0][1] - places[0][0]
    digits_size = _size(tokens.vocabulary, side)
    for (left, right), token, seen in zip(
        places, tokens.values[newest], tokens.mask[newest], strict=True
    ):
        box = [left, TOP, right - 1, TOP + side - 1]
        if not seen:
            draw.rectangle(box, outline=LATER)
            continue
        colour = colours[token]
        draw.rectangle(box, fill=tuple(colour))
        if digits_size:
            ink = TEXT if colour @ (0.299, 0.587, 0.114) < 128 else BACKGROUND
            middle = (left + side / 2, TOP + side / 2)
            draw.text(middle, str(token), font=font(digits_size, True), fill=ink, anchor="mm")
    return np.asarray(canvas)


def _legend(draw: ImageDraw.ImageDraw, tokens: Tokens, shown: int) -> None:
    length, seen = len(tokens.mask), int(tokens.mask.sum())
    draw.text((MARGIN, 3), "memory", font=font(13, True), fill=TEXT)
    left = MARGIN + draw.textlength("memory", font=font(13, True)) + 10
    text = f"J = {tokens.vocabulary}, {tokens.seconds:g} s per token, the newest on the right"
    if shown < length:
        text += f" (the last {shown} are shown)"
    draw.text((left, 3), text, font=font(13), fill=QUIET)
    right = (2 * SIDE - MARGIN, 3)
    draw.text(right, f"{seen} of {length} tokens", font=font(13), fill=QUIET, anchor="ra")


def _size(vocabulary: int, side: int) -> int:
    """Return the largest font size at which all token numbers fit into a square, or 0."""
    longest = "8" * len(str(vocabulary - 1))
    for size in range(min(13, side - 4), 7, -1):
        if font(size, True).getlength(longest) <= side - 2:
            return size
    return 0
