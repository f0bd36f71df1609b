"""A sheet of camera images that shows the variations of splits.

Each pair shows the first frame of an episode, head camera left and front camera right. The episodes
use the safes of the split in turn and the seeds 0, 1, ...
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from PIL import Image, ImageDraw

from rulesafe_sim.config import SimulationConfig
from rulesafe_sim.observer import Observer
from rulesafe_sim.simulation import Simulation

MARGIN = 18  # pixels above each image pair, for its caption
GAP = 6  # pixels


@dataclass(frozen=True)
class Sheet:
    """Settings of the sheet.

    Attributes:
        image: JPEG file.
        splits: Splits to show.
        each: Number of episodes of each split.
        columns: Number of image pairs side by side.
        rule: Rule of the lock.
        quality: Quality of the JPEG.
    """

    image: Annotated[Path, tyro.conf.Positional]
    splits: tuple[str, ...] = ("varied", "shifted")
    each: int = 6
    columns: int = 3
    rule: str = "rule_001"
    quality: int = 80


def pairs(split: str, count: int, rule: str) -> list[Image.Image]:
    """Return image pairs with captions of the first seeds of a split."""
    simulation = Simulation(SimulationConfig(split=split))
    safes = simulation.split.safes
    drawn = []
    for seed in range(count):
        simulation.reset(rule, safes[seed % len(safes)], seed)
        images = Observer(simulation).observe(("head", "front"))
        image = np.hstack([images["head"], images["front"]])
        height, width, _ = image.shape
        pair = Image.new("RGB", (width, height + MARGIN), "white")
        pair.paste(Image.fromarray(image), (0, MARGIN))
        caption = f"{simulation.split.id}, {simulation.safe.id}, seed {seed}"
        ImageDraw.Draw(pair).text((2, 3), caption, fill="black")
        drawn.append(pair)
    return drawn


def draw(sheet: Annotated[Sheet, tyro.conf.arg(name="")]) -> None:
    """Draw a sheet of camera images that shows the variations of splits."""
    drawn = [pair for split in sheet.splits for pair in pairs(split, sheet.each, sheet.rule)]
    width, height = drawn[0].size[0] + GAP, drawn[0].size[1] + GAP
    rows = -(-len(drawn) // sheet.columns)
    page = Image.new("RGB", (sheet.columns * width - GAP, rows * height - GAP), "white")
    for index, pair in enumerate(drawn):
        row, column = divmod(index, sheet.columns)
        page.paste(pair, (column * width, row * height))
    page.save(sheet.image, quality=sheet.quality, optimize=True)
    print(f"{sheet.image}: {len(drawn)} episodes, {sheet.image.stat().st_size // 1024} kB")
