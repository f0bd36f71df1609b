"""All pictures of `rulesafe memory plot`, one after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rulesafe_core.errors import RuleSafeError
from vq_memory_node.analysis.figures import draw_codebook, draw_strips, draw_told
from vq_memory_node.analysis.plots import map_of, principal, strips_of, told_by_tokens, write_told
from vq_memory_node.analysis.trajectories import Trajectories
from vq_memory_node.model_files import Model


@dataclass(frozen=True)
class Plotting:
    """What is drawn.

    Attributes:
        rows: trajectories in a picture of strips.
        clusters: of the lower strips and of the codebook's colours.
        every: of so many frames one is counted for the information.
        seed: of noise, baseline, bootstrap and t-SNE.
    """

    rows: int = 3
    clusters: int = 4
    every: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rows < 1 or self.every < 1 or self.seed < 0:
            raise RuleSafeError(
                "at least one row, every 1 or more, seed 0 or more, "
                f"not {self.rows}, {self.every} and {self.seed}"
            )


def draw_all(
    out: Path, model: Model, found: Trajectories, plotting: Plotting = Plotting()
) -> Iterator[Path]:
    """Writes the pictures into a folder and yields each file's path once it is there.

    Without true steps there is no picture of information.

    Errors: RuleSafeError if the model has no such number of clusters, and where scikit-learn is
    not installed.
    """
    fine, clusters = model.clusters(model.architecture.codes), model.clusters(plotting.clusters)
    components, _ = principal(model.arrays["codebook"])
    order = np.argsort(components[:, 0], kind="stable")
    for rule in sorted(set(found.rules)):
        strips = strips_of(model, found, rule, plotting.rows)
        path = out / f"strips_{rule or 'unknown'}.png"
        draw_strips(path, rule, strips, fine, clusters, order)
        yield path
    path = out / "codebook.png"
    draw_codebook(path, map_of(model, plotting.seed), clusters)
    yield path
    if found.steps is not None:
        told = told_by_tokens(model, found, every=plotting.every, seed=plotting.seed)
        path = out / "information.csv"
        write_told(path, told)
        yield path
        path = out / "information.png"
        draw_told(path, told)
        yield path
