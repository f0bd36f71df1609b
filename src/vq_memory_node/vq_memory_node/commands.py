"""The subcommands of `rulesafe memory`. What they need is imported when they run."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import tyro

from vq_memory_node.analysis.commands_measure import measure
from vq_memory_node.analysis.commands_train import train

Data = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")]


def tokens(data: Data, model: str, out: Path, clusters: int = 4) -> None:
    """Write the token of every frame of every episode, as Parquet.

    Columns: episode, frame, and the token of the window that ends there, by code and by cluster.

    Example: rulesafe memory tokens demos --model rule_001_rule_020 --out tokens.parquet

    Args:
        data: A .parquet file of `rulesafe demos export`, a dataset, or recordings.
        model: Name of a model that comes with the package, or its folder.
        out: The file to write.
        clusters: How many clusters; the model's model.json lists what it offers.
    """
    from vq_memory_node.analysis.encoding import write_tokens
    from vq_memory_node.analysis.trajectories import load_trajectories
    from vq_memory_node.model_files import load_model

    loaded, found = load_model(model), load_trajectories(data)
    count = write_tokens(out, found, loaded, clusters)
    print(f"wrote {out}: {count} tokens of {len(found)} episodes")


def plot(
    data: Data,
    model: str,
    out: Path,
    rules: str = "all",
    rows: int = 3,
    clusters: int = 4,
    every: int = 5,
    seed: int = 0,
) -> None:
    """Draw token strips, what tokens tell of the true step, and the codebook.

    Writes strips_RULE.png for each rule, codebook.png, and, where the demonstrations tell the
    true step (a .parquet file does not), information.png and information.csv.

    Example: rulesafe memory plot demos --model rule_001_rule_020 --out pictures

    Args:
        data: A .parquet file of `rulesafe demos export`, a dataset, or recordings.
        model: Name of a model that comes with the package, or its folder.
        out: Folder of the pictures.
        rules: Rules to look at, joined by commas.
        rows: Trajectories in a picture of strips.
        clusters: Clusters of the lower strips and of the codebook's colours.
        every: Of so many frames, one is counted for the information.
        seed: Of noise, baseline, bootstrap and t-SNE.
    """
    from vq_memory_node.analysis.pictures import Plotting, draw_all
    from vq_memory_node.analysis.trajectories import load_trajectories
    from vq_memory_node.model_files import load_model

    loaded, found = load_model(model), load_trajectories(data)
    if rules != "all":
        found = found.of_rules(rules.split(","))
    for path in draw_all(out, loaded, found, Plotting(rows, clusters, every, seed)):
        print(f"wrote {path}")
    if found.steps is None:
        print(f"{data} does not tell the true step: no picture of information")


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "train": train,
    "tokens": tokens,
    "plot": plot,
    "measure": measure,
}
"""Names of the subcommands; each returns its exit code, or None for 0."""
