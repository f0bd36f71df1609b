"""The subcommands of `rulesafe memory`. Imports are local, so that `--help` stays fast."""

import sys
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
    from vq_memory_node.analysis.trajectories import load_trajectories
    from vq_memory_node.model_files import load_model

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
    clusters: int = 4,
    every: int = 5,
    seed: int = 0,
) -> None:
    """Plot token strips, the codebook, and the information that tokens carry about the true step.

    Writes strips_RULE.png for each rule and codebook.png. If the demonstrations contain the true
    step (a .parquet file does not), also writes information.png and information.csv.

    Example: rulesafe memory plot demos --model rule_001_rule_020 --out pictures

    Args:
        data: A .parquet file of `rulesafe demos export`, a dataset, or recordings.
        model: Name of a model that comes with the package, or path of a model folder.
        out: Output folder.
        rules: Rules to plot, separated by commas; all: every rule.
        clusters: Number of clusters in the lower strips and in the codebook's colours.
        every: Compute the information from every N-th frame.
        seed: Seed of noise, baseline, bootstrap and t-SNE.
    """
    from vq_memory_node.analysis.figures import draw_all
    from vq_memory_node.analysis.plots import few_episodes
    from vq_memory_node.analysis.trajectories import load_trajectories
    from vq_memory_node.model_files import load_model

    loaded, found = load_model(model), load_trajectories(data)
    if rules != "all":
        found = found.of_rules(rules.split(","))
    for path in draw_all(out, loaded, found, clusters, every, seed):
        print(f"wrote {path}")
    if found.steps is None:
        print(f"{data} does not contain the true step: information.png is not written")
    elif warning := few_episodes(found.rules):
        print(f"information.png: {warning}", file=sys.stderr)


def measure(
    data: Data,
    model: str,
    shifted: Path,
    out: Path,
    beside: tuple[str, ...] = (),
    seeds: int = 5,
) -> None:
    """Measure stability, information about the task step, and computational cost of tokens.

    The task step is privileged: it is used as a label here, and no memory or policy is trained on
    it. Takes a few minutes on one core for each model.

    Example: rulesafe memory measure demos --model rule_001_rule_020 --shifted shifted --out
    memory.md

    Args:
        data: Episodes of the split that the model was trained on: a dataset or a folder of
            `rulesafe demos generate`.
        model: Name of a model that comes with the package, or path of a model folder.
        shifted: Episodes of the same rules, out of distribution (split `shifted`).
        out: Output file (Markdown).
        beside: Further models to compare, by name or folder.
        seeds: Number of noise draws and of probe trainings, 2 or more.
    """
    if seeds < 2:
        raise RuleSafeError(f"--seeds must be 2 or more to compute an interval, got {seeds}")

    import torch

    from rulesafe_core.files import write_atomically
    from vq_memory_node.analysis import measure_report, measures
    from vq_memory_node.analysis.cost import measure_apart
    from vq_memory_node.analysis.trajectories import load_trajectories
    from vq_memory_node.model_files import load_model

    torch.set_num_threads(1)
    models = (model, *beside)
    found = measures.token_memories(models)
    episodes = {"train": load_trajectories(data), "shifted": load_trajectories(shifted)}
    cost = measure_apart(model, tokens=500)
    print("timed the memory", flush=True)
    stable = {}
    for split, recorded in episodes.items():
        stable[split] = measures.stabilities(recorded, found, seeds)
        print(f"measured the stability of tokens, {split} episodes", flush=True)
    results = []
    sources = measures.sources(found)
    for result in measures.probe_results(episodes["train"], episodes["shifted"], sources, seeds):
        results.append(result)
        print(measure_report.line(result), flush=True)
    command = (
        f"rulesafe memory measure {data} --model {model} --shifted {shifted} "
        f"--out {out} --seeds {seeds}"
    ) + (f" --beside {' '.join(beside)}" if beside else "")
    about = {Path(name).name: load_model(name) for name in models}
    text = measure_report.report(command, about, episodes, stable, results, cost, seeds)
    write_atomically(out, text.encode())
    print(out)


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "train": train,
    "tokens": tokens,
    "plot": plot,
    "measure": measure,
}
"""Names of the subcommands; each returns its exit code, or None for 0."""
