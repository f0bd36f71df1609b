"""The subcommands of `rulesafe memory`. Imports are local, so that `--help` stays fast."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import tyro

from rulesafe_core.errors import RuleSafeError, resumable
from vq_memory_node.train_config import MemoryTrainConfig

Data = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")]


def train(
    data: Data,
    out: Path,
    config: Annotated[MemoryTrainConfig, tyro.conf.OmitArgPrefixes] = MemoryTrainConfig(),
) -> None:
    """Train a memory model on joint positions: encoder, codebook and clusters of codes.

    Ctrl-C or SIGTERM saves a checkpoint after the current batch; the same command resumes the
    training. OUT/tensorboard contains the log.

    Example: rulesafe memory train datasets/rule_001_rule_020.parquet --out memory

    Args:
        data: A .parquet file of `rulesafe demos export`, a dataset, or recordings.
        out: Output folder of the model.
    """
    from rulesafe_data.bars import training_bar
    from vq_memory_node import training
    from vq_memory_node.model_files import load_model
    from vq_memory_node.trajectories import load_trajectories

    _check_folder(out)
    positions = load_trajectories(data).positions
    kept = f"the last checkpoint, if any (saved every {config.checkpoint_every} batches),"
    with training_bar(config.steps, "batch") as show, resumable(kept):
        training.train(
            positions,
            config,
            out,
            lambda now: show(
                now.step, "loss {loss:.1f}, perplexity {perplexity:.0f}".format(**now.metrics)
            ),
        )
    model = load_model(out)
    for part, figures in model.training["results"].items():
        values = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
        print(f"{part}: {values}")
    print(f"{out}: model {model.hash[:12]}, clusters {', '.join(map(str, model.clusterings))}")


def _check_folder(out: Path) -> None:
    """Raise RuleSafeError if a folder contains files other than a memory model or its training.

    Tools would otherwise read the new model as part of that other data."""
    from vq_memory_node.model_files import ARRAY_FILE, JSON_FILE
    from vq_memory_node.resume import CHECKPOINT

    own = {CHECKPOINT, ARRAY_FILE, JSON_FILE, "tensorboard"}
    found = {path.name for path in out.glob("*") if not path.name.startswith(".")}
    if JSON_FILE not in found and (others := sorted(found - own)):
        more = ", ..." if len(others) > 3 else ""
        raise RuleSafeError(
            f"{out} is not the folder of a memory model: it contains "
            f"{', '.join(others[:3])}{more}; set --out to a new or empty folder"
        )


def tokens(data: Data, model: str, out: Path, clusters: int = 4) -> None:
    """Write the tokens at all frames of all episodes to a Parquet file.

    Columns: episode, frame, and the token of the window that ends at this frame: its code (one
    token per code) and its cluster (one token per cluster).

    Example: rulesafe memory tokens demos --model rule_001_rule_020 --out tokens.parquet

    Args:
        data: A .parquet file of `rulesafe demos export`, a dataset, or recordings.
        model: Name of a model that comes with the package, or path of a model folder.
        out: Output file.
        clusters: Number of clusters; model.json of the model lists the valid numbers.
    """
    from vq_memory_node.encoding import write_tokens
    from vq_memory_node.model_files import load_model
    from vq_memory_node.trajectories import load_trajectories

    loaded, found = load_model(model), load_trajectories(data)
    count = write_tokens(out, found, loaded, clusters)
    print(f"wrote {out}: {count} tokens of {len(found)} episodes")


def plot(data: Data, model: str, out: Path, rules: str = "all", clusters: int = 4) -> None:
    """Plot token strips and the codebook: strips_RULE.png for each rule, and codebook.png.

    Example: rulesafe memory plot demos --model rule_001_rule_020 --out pictures

    Args:
        data: A .parquet file of `rulesafe demos export`, a dataset, or recordings.
        model: Name of a model that comes with the package, or path of a model folder.
        out: Output folder.
        rules: Rules to plot, separated by commas; all: every rule.
        clusters: Number of clusters in the lower strips and in the codebook's colours.
    """
    from vq_memory_node.model_files import load_model
    from vq_memory_node.plots import draw_all
    from vq_memory_node.trajectories import load_trajectories

    loaded, found = load_model(model), load_trajectories(data)
    if rules != "all":
        found = found.of_rules(rules.split(","))
    for path in draw_all(out, loaded, found, clusters):
        print(f"wrote {path}")


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "train": train,
    "tokens": tokens,
    "plot": plot,
}
"""Names of the subcommands; each returns its exit code, or None for 0."""
