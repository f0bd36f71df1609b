"""The subcommand `rulesafe memory measure`. What it needs is imported when it runs."""

from pathlib import Path
from typing import Annotated

import tyro

Data = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")]


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
    reads = []
    sources = measures.sources(found)
    for read in measures.readings(episodes["normal"], episodes["shifted"], sources, seeds):
        reads.append(read)
        print(measure_report.line(read), flush=True)
    command = (
        f"rulesafe memory measure {data} --model {model} --shifted {shifted} "
        f"--out {out} --seeds {seeds}"
    ) + (f" --beside {' '.join(beside)}" if beside else "")
    about = {Path(name).name: load_model(name) for name in models}
    text = measure_report.report(command, about, episodes, stable, reads, cost, seeds)
    write_atomically(out, text.encode())
    print(out)
