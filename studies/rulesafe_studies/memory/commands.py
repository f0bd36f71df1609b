"""The commands `measure` and `information`: the CSV files of docs/results/memory.md."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from rulesafe_core.errors import RuleSafeError
from rulesafe_studies.data import write_csv

Demonstrations = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")]


def measure(
    data: Demonstrations,
    model: str,
    shifted: Path,
    out: Path,
    beside: tuple[str, ...] = (),
    seeds: int = 5,
) -> None:
    """Measure stability, information about the task step, and computational cost of tokens.

    Writes token_cost.csv, token_stability.csv and step_probe.csv. The task step is privileged: it
    is used as a label here, and no memory or policy is trained on it. Takes a few minutes on one
    core for each model.

    Args:
        data: Episodes of the split that the model was trained on: a dataset or a folder of
            `rulesafe demos generate`.
        model: Name of a model that comes with the package, or path of a model folder.
        shifted: Episodes of the same rules, out of distribution (split `shifted`).
        out: Output folder.
        beside: Further models to compare, by name or folder.
        seeds: Number of noise draws and of probe trainings, 2 or more.
    """
    if seeds < 2:
        raise RuleSafeError(f"--seeds must be 2 or more to compute an interval, got {seeds}")

    import torch

    from rulesafe_studies.memory import measures
    from rulesafe_studies.memory.cost import measure_apart
    from rulesafe_studies.memory.stability import NOISE
    from vq_memory_node.trajectories import load_trajectories

    torch.set_num_threads(1)
    found = measures.token_memories((model, *beside))
    episodes = {"varied": load_trajectories(data), "shifted": load_trajectories(shifted)}
    cost = measure_apart(model, tokens=500)
    rows: list[dict[str, Any]] = [_cost(name, 1000 * ms, "us") for name, ms in cost.times.items()]
    rows += [_cost(name, np.array([kb]), "kB") for name, kb in cost.memory_kb.items()]
    write_csv(out / "token_cost.csv", rows)
    print(f"{out}/token_cost.csv", flush=True)
    rows = []
    for split, recorded in episodes.items():
        stable, raw = measures.stabilities(recorded, found, seeds)
        for name, changes in stable.items():
            row = {"episodes": split, "input": f"tokens unchanged, {name}"}
            row |= _shares({kind: each.unchanged for kind, each in changes.items()})
            rows.append(row | {"chance": _percent(next(iter(changes.values())).chance)})
        row = {"episodes": split, "input": "raw windows, relative change"}
        rows.append(row | _shares(raw) | {"chance": ""})
    comments = (f"Noise of {NOISE} rad and another speed; 95 % intervals by bootstrap (%).",)
    write_csv(out / "token_stability.csv", rows, comments)
    print(f"{out}/token_stability.csv", flush=True)
    rows = []
    sources = measures.sources(found)
    for result in measures.probe_results(episodes["varied"], episodes["shifted"], sources, seeds):
        row = {"rules": " and ".join(result.rules), "input": result.source}
        for split, scores in (("varied", result.varied), ("shifted", result.shifted)):
            names = (f"{split}_accuracy", f"{split}_f1")
            row |= _shares(dict(zip(names, scores, strict=True)))
        rows.append(row)
        print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    comments = (f"Accuracy and macro F1 (%) with 95 % intervals over {seeds} seeds.",)
    write_csv(out / "step_probe.csv", rows, comments)
    print(f"{out}/step_probe.csv")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _shares(found: Mapping[str, Any]) -> dict[str, str]:
    """Return value and ends of the interval of each estimate (%), by column."""
    return {
        name + end: _percent(getattr(estimate, end.removeprefix("_") or "value"))
        for name, estimate in found.items()
        for end in ("", "_low", "_high")
    }


def _cost(name: str, values: Any, unit: str) -> dict[str, str]:
    median, p99 = (f"{value:.1f}" for value in np.percentile(values, [50, 99]))
    return {"measured": name, "unit": unit, "median": median, "p99": p99, "n": str(len(values))}


def information(data: Demonstrations, model: str, out: Path, every: int = 5, seed: int = 0) -> None:
    """Measure the information of the newest token about the task step: token_information.csv.

    One row for each number of tokens and each standard deviation of joint noise. With fewer than
    10 episodes of a rule, the bootstrap intervals are too narrow.

    Args:
        data: Demonstrations with steps: a dataset or a folder of `rulesafe demos generate`.
        model: Name of a model that comes with the package, or path of a model folder.
        out: Output folder.
        every: Use every N-th frame.
        seed: Random seed of noise, baseline and bootstrap.
    """
    if every < 1 or seed < 0:
        raise RuleSafeError(f"--every is {every} and --seed {seed}; valid: 1 or more, 0 or more")

    from vq_memory_node.model_files import load_model
    from vq_memory_node.trajectories import load_trajectories

    rows = list(_information(load_model(model), load_trajectories(data), every, seed))
    write_csv(out / "token_information.csv", rows)
    print(f"{out}/token_information.csv")


def _information(model: Any, found: Any, every: int, seed: int) -> Iterator[dict[str, str]]:
    from rulesafe_studies.memory.information import NOISES, share_of_tokens

    for noise in NOISES:
        for clusters, share in share_of_tokens(model, found, noise, every, seed):
            values = {key: f"{value:.4f}" for key, value in vars(share).items()}
            yield {"clusters": str(clusters), "noise_rad": f"{noise:g}", **values}
