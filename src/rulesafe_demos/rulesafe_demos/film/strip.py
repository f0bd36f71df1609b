"""The strip under a film's pictures: what a policy remembers, a square for each token. No ROS here.

Example::

    film.add(with_strip(compose(head_rgb, front_rgb, snapshot, instruction), tokens))
"""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from rulesafe_core.errors import RuleSafeError
from rulesafe_demos.film.film import BACKGROUND, LATER, MARGIN, QUIET, SIDE, TEXT, Picture, font
from vq_memory_node.colours import cluster_colours
from vq_memory_node.memory import Reading
from vq_memory_node.rolling import RollingMemory
from vq_memory_node.windows import RATE

BAND = 56
"""Pixels of the strip with its legend; even, as the film's format wants it."""

TOP = 24
"""Pixels of the legend above the squares."""

PITCH = (8, 24)
"""Pixels from one square to the next, least and most; a gap of GAP is part of it. All are even, for
the film's format keeps colours at half the resolution."""

GAP = 2


@dataclass(frozen=True)
class Tokens:
    """What a memory of tokens tells at one instant.

    Attributes:
        reading: (M,) tokens 0 .. vocabulary - 1, oldest first, and where they were observed.
        vocabulary: J.
        seconds: from one token to the next, s.

    Errors: RuleSafeError if tokens and mask are not of one length, or a token is none of these.
    """

    reading: Reading
    vocabulary: int
    seconds: float

    def __post_init__(self) -> None:
        values, mask = self.reading.values, self.reading.mask
        if values.shape != mask.shape or values.ndim != 1 or not len(values):
            raise RuleSafeError(f"{values.shape} tokens with a mask of {mask.shape}")
        if values.min() < 0 or values.max() >= self.vocabulary:
            raise RuleSafeError(
                f"tokens {values.min()}..{values.max()} of a vocabulary of {self.vocabulary}"
            )

    def emptied(self) -> "Tokens":
        """The same memory before it has observed anything."""
        nothing = Reading(np.zeros_like(self.reading.values), np.zeros_like(self.reading.mask))
        return Tokens(nothing, self.vocabulary, self.seconds)


def tokens_of(rolling: RollingMemory | None) -> Tokens | None:
    """Return the tokens that a memory holds; None if its values are not tokens."""
    if rolling is None or not rolling.memory.vocabulary:
        return None
    return Tokens(rolling.read(), rolling.memory.vocabulary, rolling.grid.stride / RATE)


def with_strip(picture: Picture, tokens: Tokens | None) -> Picture:
    """The picture (H, 2 SIDE, 3) with the strip below it, (H + BAND, 2 SIDE, 3); without tokens it
    stays as it is."""
    return picture if tokens is None else np.vstack([picture, strip(tokens)])


def squares(length: int) -> list[tuple[int, int]]:
    """Where the squares of a memory are: left and right edge (the latter is the first column that
    is not in it) of each, oldest first. Of a very long memory only the newest have room."""
    least, most = PITCH
    room = 2 * SIDE - 2 * MARGIN + GAP
    pitch = min(max(room // max(length, 1) // 2 * 2, least), most)
    lefts = [MARGIN + pitch * i for i in range(min(length, room // pitch))]
    return [(left, left + pitch - GAP) for left in lefts]


def strip(tokens: Tokens) -> Picture:
    """The strip alone (BAND, 2 SIDE, 3). What was not observed is an empty square."""
    canvas = Image.new("RGB", (2 * SIDE, BAND), BACKGROUND)
    draw = ImageDraw.Draw(canvas)
    places = squares(len(tokens.reading.mask))
    _legend(draw, tokens, len(places))
    colours = np.round(255 * cluster_colours(tokens.vocabulary)[:, :3]).astype(int)
    newest = slice(-len(places), None)
    side = places[0][1] - places[0][0]
    words = _size(tokens.vocabulary, side)
    for (left, right), token, seen in zip(
        places, tokens.reading.values[newest], tokens.reading.mask[newest], strict=True
    ):
        box = [left, TOP, right - 1, TOP + side - 1]
        if not seen:
            draw.rectangle(box, outline=LATER)
            continue
        colour = colours[token]
        draw.rectangle(box, fill=tuple(colour))
        if words:
            ink = TEXT if colour @ (0.299, 0.587, 0.114) < 128 else BACKGROUND
            middle = (left + side / 2, TOP + side / 2)
            draw.text(middle, str(token), font=font(words, True), fill=ink, anchor="mm")
    return np.asarray(canvas)


def _legend(draw: ImageDraw.ImageDraw, tokens: Tokens, shown: int) -> None:
    length, seen = len(tokens.reading.mask), int(tokens.reading.mask.sum())
    draw.text((MARGIN, 3), "memory", font=font(13, True), fill=TEXT)
    left = MARGIN + draw.textlength("memory", font=font(13, True)) + 10
    words = f"J = {tokens.vocabulary}, {tokens.seconds:g} s per token, the newest on the right"
    if shown < length:
        words += f" (the last {shown} are shown)"
    draw.text((left, 3), words, font=font(13), fill=QUIET)
    right = (2 * SIDE - MARGIN, 3)
    draw.text(right, f"{seen} of {length} tokens", font=font(13), fill=QUIET, anchor="ra")


def _size(vocabulary: int, side: int) -> int:
    """The largest type in which every token's number fits into a square; 0 where none does."""
    longest = "8" * len(str(vocabulary - 1))
    for size in range(min(13, side - 4), 7, -1):
        if font(size, True).getlength(longest) <= side - 2:
            return size
    return 0
