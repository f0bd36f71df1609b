"""Report of `rulesafe memory measure` as Markdown (docs/results/memory.md)."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rulesafe_data.measuring import folded, machine, markdown_table
from vq_memory_node.analysis.cost import Cost
from vq_memory_node.analysis.measures import EVERY, ProbeResult
from vq_memory_node.analysis.probe import ProbeConfig
from vq_memory_node.analysis.stability import NOISE, RESAMPLES, Estimate, Stability
from vq_memory_node.analysis.trajectories import Trajectories
from vq_memory_node.model_files import MemoryModel
from vq_memory_node.training_data import digest
from vq_memory_node.windows import LENGTH, RATE, STRIDE

GOALS = {"frame with a token, numpy": "0.3 ms", "frame with no token": "20 us"}


Stabilities = tuple[Mapping[str, Mapping[str, Stability]], Mapping[str, Estimate]]


def report(
    command: str,
    models: Mapping[str, MemoryModel],
    episodes: Mapping[str, Trajectories],
    stable: Mapping[str, Stabilities],
    results: Sequence[ProbeResult],
    cost: Cost,
    seeds: int,
) -> str:
    """Return the complete page.

    Args:
        command: the command that writes it.
        models: the measured models by name; `cost` is that of the first one.
        episodes: episodes by split, "train" and "shifted".
        stable: results of `measures.stabilities`, by split.
        results: results in the order of the table's rows.
        cost: computational cost of the first model's memory.
        seeds: number of noise draws and of probe trainings.
    """
    parts = [
        "# Memory tokens: information, stability and cost",
        "## Information about the task step",
        reading_text(seeds),
        reading_section(results),
        "## Tokens under noise and at another speed",
        STABILITY_TEXT,
        *(
            stability_section(f"Table: episodes of the {split} split", *found, seeds)
            for split, found in stable.items()
        ),
        "## Cost",
        COST_TEXT,
        cost_section(cost.times, cost.memory_kb),
        "## Models and episodes",
        "Models, trained without the steps as labels; rows of the tables without the name of a "
        "model are of the first one:",
        "\n".join(f"- {described(name, model)}" for name, model in models.items()),
        "Episodes:",
        "\n".join(
            f"- {about(split, found, next(iter(models.values())))}"
            for split, found in episodes.items()
        ),
        "; ".join(f"{name} {value}" for name, value in machine().items()) + ".",
        "## How to reproduce",
        f"    {command}",
    ]
    return "\n\n".join(parts) + "\n"


def described(name: str, model: MemoryModel) -> str:
    """Return the line that describes a model."""
    config = {"sees": "arm_and_hand", **model.training.get("config", {})}
    names = {"sees": "input joints", "quantiser": "quantiser", "clustering": "clustering"}
    settings = [f"{names[key]} {config[key]}" for key in names if key in config]
    return f"{name} ({model.hash[:12]}): {model.architecture.codes} codes, {', '.join(settings)}"


def about(name: str, data: Trajectories, model: MemoryModel) -> str:
    """Return the line that describes a set of episodes, and whether the model was trained on it."""
    rules = sorted(set(data.rules))
    counts = ", ".join(f"{data.rules.count(rule)} of {rule}" for rule in rules)
    kinds = counts if len(rules) <= 4 else f"{len(rules)} rules"
    trained = model.training.get("data", {}).get("sha256") == digest(data.positions)
    safes = ", ".join(sorted(set(data.safes) - {""})) or "unknown safes"
    which = "the training set" if trained else "not the training set"
    return (
        f"{name}: {len(data)} episodes ({kinds}) on {safes}, {data.frames} frames; {which} of the "
        "first model."
    )


def stability_section(
    title: str,
    found: Mapping[str, Mapping[str, Stability]],
    raw: Mapping[str, Estimate],
    seeds: int,
) -> str:
    """Return a folded table with a row for each vocabulary, and one for raw windows."""
    names = list(raw)
    some = next(iter(found.values()))
    rows = [["", *names, "by chance"]]
    for tokenizer, by_name in found.items():
        shares = [_percent(by_name[name].unchanged) for name in names]
        chance = f"{100 * by_name[names[0]].chance:.1f} %"
        rows.append([f"tokens unchanged, {tokenizer}", *shares, chance])
    rows.append(["raw windows, relative change", *(_percent(raw[name]) for name in names), ""])
    count = (
        f"{some[names[0]].tokens} tokens, at frames 0, 20, 40, ... of each episode; "
        f"{seeds} draws of the noise."
    )
    return folded(title, f"{count}\n\n{markdown_table(rows)}")


STABILITY_TEXT = f"""\
Noise is Gaussian, independent for each joint and frame, with a standard deviation of {NOISE} rad.
Another speed is simulated by resampling the trajectory in time; tokens at the same fraction of the
episode are compared. "By chance" is the share that would be unchanged if tokens were drawn at
random with their frequencies in the stored episodes; it is high for few clusters. The relative
change of raw windows is the RMS of the disturbance over the RMS of the distance from the mean
posture of all episodes. In parentheses: 95 % intervals by bootstrap over episodes ({RESAMPLES}
resamples)."""


COST_TEXT = f"""\
Measured in a separate process with one core and one thread. A memory with windows that end at
frames 0, 20, 40, ... receives the joint positions of a moving arm, one frame per call. Memory usage
is measured after {STRIDE * LENGTH} frames; all memories of a process share a tokenizer."""


def reading_text(seeds: int) -> str:
    """Return the description of the method."""
    config = ProbeConfig()
    return f"""\
A probe, an MLP with two hidden layers of {config.hidden} units, predicts the number of completed
steps of the plan. Every {EVERY}th frame of a rule's train episodes is used: 70 % of the episodes
for training, 10 % for early stopping and 20 % for the test; all shifted episodes are test episodes.
The inputs are the current joints (13) and no memory, raw memory ({LENGTH} x 13 positions, of the
hand {LENGTH} x 6, and the mask) or sliding tokens ({LENGTH} one-hot and the mask). The mask itself
contains the elapsed time, up to {LENGTH * STRIDE // RATE} s, and is therefore a baseline.
Hidden layers and training (Adam, {config.rate}, batches of {config.batch}, at most {config.epochs}
epochs, patience {config.patience}) are the same for all inputs. For two or more rules together, the
rule is another input, and steps of different rules are different labels. Macro F1 is the mean over
steps. In parentheses: Student's 95 % intervals, clipped to 0..100 %, over {seeds} seeds of split,
weights and batch order; they do not include the variation between sets of recorded episodes."""


def reading_section(found: Sequence[ProbeResult]) -> str:
    """Return folded tables, one for each group of rules, with a row for each input."""
    scores = ("accuracy", "macro F1")
    head = [f"{split}, {score}" for split in ("held-out train", "shifted") for score in scores]
    tables: dict[str, list[list[str]]] = {}
    for result in found:
        figures = [_percent(estimate) for estimate in (*result.train, *result.shifted)]
        rows = tables.setdefault(" and ".join(result.rules), [["input", *head]])
        rows.append([result.source, *figures])
    return "\n\n".join(
        folded(f"Table: {rules}", markdown_table(rows)) for rules, rows in tables.items()
    )


def cost_section(
    samples: Mapping[str, NDArray[np.float64]], footprints: Mapping[str, float]
) -> str:
    """Return the tables of times per frame and of memory usage."""
    rows = [["", "median, us", "99th percentile, us", "n", "goal"]]
    for name, ms in samples.items():
        figures = [f"{1000 * value:.1f}" for value in np.percentile(ms, [50, 99])]
        rows.append([name, *figures, str(len(ms)), GOALS.get(name, "")])
    sizes = [["memory usage", "kB"]] + [[name, f"{kb:.1f}"] for name, kb in footprints.items()]
    return f"{markdown_table(rows)}\n\n{markdown_table(sizes)}"


def _percent(estimate: Estimate) -> str:
    low, high = 100 * estimate.low, 100 * estimate.high
    return f"{100 * estimate.value:.1f} % ({low:.1f}..{high:.1f})"


def line(result: ProbeResult) -> str:
    """Return the line that is printed after each measurement."""
    return (
        f"{' and '.join(result.rules)}, {result.source}: accuracy {_percent(result.train[0])} on "
        f"held-out train episodes, {_percent(result.shifted[0])} on shifted ones"
    )
