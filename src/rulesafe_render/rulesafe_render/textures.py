"""Textures: images of a surface's colours, in levels of halved size."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError

MAX_SIDE = 4096
LEVELS = 6


@dataclass(frozen=True, eq=False)
class Texture:
    """A repeating texture.

    Attributes:
        levels: images (H, W, 4) uint8, each with half of the sides of the previous one.
        srgb: whether the values are sRGB; otherwise they are linear.
    """

    levels: tuple[NDArray[np.uint8], ...]
    srgb: bool = True


def make_texture(image: NDArray[np.uint8], *, srgb: bool, levels: int = LEVELS) -> Texture:
    """Compute the levels of a texture from an image (H, W, 3 or 4).

    Raises:
        RuleSafeError: a side is not in 1..MAX_SIDE.
    """
    height, width = image.shape[:2]
    if not (1 <= height <= MAX_SIDE and 1 <= width <= MAX_SIDE):
        raise RuleSafeError(f"a texture of {width}x{height} pixels; valid: sides of 1..{MAX_SIDE}")
    full = np.full((height, width, 4), 255, np.uint8)
    full[..., : image.shape[2]] = image
    found = [full]
    while len(found) < levels and min(found[-1].shape[:2]) > 1:
        last = found[-1].astype(np.uint16)
        even = last[: last.shape[0] // 2 * 2, : last.shape[1] // 2 * 2]
        rows = even[::2] + even[1::2]
        total = rows[:, ::2] + rows[:, 1::2]
        found.append(((total + 2) // 4).astype(np.uint8))
    return Texture(tuple(np.ascontiguousarray(level) for level in found), srgb)


def read_texture(path: Path) -> Texture:
    """Read the texture of an image file.

    Raises:
        RuleSafeError: the file cannot be read or is too large.
    """
    try:
        return _read_texture(path, path.stat().st_mtime_ns)
    except RuleSafeError:
        raise
    except Exception as error:  # the readers raise whatever the content leads to
        raise RuleSafeError(f"cannot read the texture {path}: {error}") from error


@lru_cache(maxsize=64)
def _read_texture(path: Path, changed: int) -> Texture:
    from PIL import Image

    with Image.open(path) as image:
        if max(image.size) > MAX_SIDE:
            raise RuleSafeError(f"the texture {path} is larger than {MAX_SIDE} pixels")
        return make_texture(np.asarray(image.convert("RGB")), srgb=True, levels=4)
