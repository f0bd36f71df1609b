"""The subcommands of `rulesafe memory`. What they need is imported when they run."""

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
    """Train a memory on joint positions: a codebook of windows, and its clusters.

    Called again with the same words it goes on where it stopped. OUT/tensorboard has the log.

    Example: rulesafe memory train datasets/rule_001_rule_020.parquet --out memory

    Args:
        data: A .parquet file of `rulesafe demos export`, a dataset, or recordings.
        out: Folder for the model.
    """
    from rulesafe_data.bars import training_bar
    from vq_memory_node import training
    from vq_memory_node.analysis.trajectories import load_trajectories
    from vq_memory_node.model_files import load_model

    _check_folder(out)
    positions = load_trajectories(data).positions
    with training_bar(config.steps, "batch") as show, resumable("the last checkpoint"):
        training.train(
            positions,
            config,
            out,
            lambda now: show(now.step, f"loss {now.loss:.1f}, perplexity {now.perplexity:.0f}"),
        )
    model = load_model(out)
    for part, figures in model.training["results"].items():
        told = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
        print(f"{part}: {told}")
    print(f"{out}: model {model.hash[:12]}, clusters {', '.join(map(str, model.clusterings))}")


def _check_folder(out: Path) -> None:
    """Errors: RuleSafeError where a folder holds other things than a memory or its training: a
    model among them would pass for a part of them, and tools would read it as one."""
    from vq_memory_node.checkpoints import CHECKPOINT
    from vq_memory_node.model_files import ARRAY_FILE, JSON_FILE

    own = {CHECKPOINT, ARRAY_FILE, JSON_FILE, "tensorboard"}
    found = {path.name for path in out.glob("*") if not path.name.startswith(".")}
    if JSON_FILE not in found and (others := sorted(found - own)):
        more = ", ..." if len(others) > 3 else ""
        raise RuleSafeError(
            f"{out} is no memory's folder: it holds {', '.join(others[:3])}{more}; give --out "
            "another, new or empty"
        )


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
        clusters: Clusters of the lower strips and of the codebook's colours.
        every: Of so many frames, one is counted for the information.
        seed: Of noise, baseline, bootstrap and t-SNE.
    """
    from vq_memory_node.analysis.figures import draw_all
    from vq_memory_node.analysis.trajectories import load_trajectories
    from vq_memory_node.model_files import load_model

    loaded, found = load_model(model), load_trajectories(data)
    if rules != "all":
        found = found.of_rules(rules.split(","))
    for path in draw_all(out, loaded, found, clusters, every, seed):
        print(f"wrote {path}")
    if found.steps is None:
        print(f"{data} does not tell the true step: no picture of information")


def measure(
    data: Data,
    model: str,
    shifted: Path,
    out: Path,
    beside: tuple[str, ...] = (),
    seeds: int = 5,
) -> None:
    """Measure how stable tokens are, what they tell of the task's step, and what they cost.

    The step is the lock's knowledge: a label to measure with, which no memory and no policy learns
    from. A few minutes on one core for each model.

    Example: rulesafe memory measure demos --model rule_001_rule_020 --shifted shifted --out
    memory.md

    Args:
        data: Episodes of the split that the model is for: a dataset or a directory of
            `rulesafe demos generate`.
        model: Name of a model, or its folder.
        shifted: Episodes of the same rules in a shifted split.
        out: The Markdown file to write.
        beside: Other models to compare with, by name or folder.
        seeds: Draws of the noise; trainings of the network, from 2 on.
    """
    import torch

    from rulesafe_core.files import write_atomically
    from vq_memory_node.analysis import measure_report, measures
    from vq_memory_node.analysis.cost import measure_apart
    from vq_memory_node.analysis.trajectories import load_trajectories
    from vq_memory_node.model_files import load_model

    torch.set_num_threads(1)
    models = (model, *beside)
    found = measures.token_memories(models)
    episodes = {"normal": load_trajectories(data), "shifted": load_trajectories(shifted)}
    cost = measure_apart(model, tokens=500)
    print("frames timed", flush=True)
    stable = {}
    for split, recorded in episodes.items():
        stable[split] = measures.stabilities(recorded, found, seeds)
        print(f"tokens of the {split} episodes disturbed", flush=True)
    results = []
    sources = measures.sources(found)
    normal, other = episodes["normal"], episodes["shifted"]
    for result in measures.probe_results(normal, other, sources, seeds):
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
