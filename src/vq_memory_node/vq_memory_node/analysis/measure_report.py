"""docs/results/memory.md: what `rulesafe memory measure` found, as Markdown."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rulesafe_data.measuring import machine, markdown_table
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
    """The whole page.

    Args:
        command: what made it.
        models: whose tokens they are, by name; the first is the one that is timed.
        episodes: by split, "normal" and "shifted".
        stable: by split.
        results: in the order of the table's rows.
        cost: of the first model's memory.
        seeds: draws of the noise, and trainings of the network.
    """
    parts = [
        "# What memory tokens keep, tell and cost",
        f"    {command}",
        "Models, which learned without knowing the steps; the others beside the first are named "
        "in the tables:",
        "\n".join(f"- {described(name, model)}" for name, model in models.items()),
        "\n".join(
            f"- {about(split, found, next(iter(models.values())))}"
            for split, found in episodes.items()
        ),
        "; ".join(f"{name} {value}" for name, value in machine().items()) + ".",
        "## Tokens under noise and at another speed",
        STABILITY_TEXT,
        *(
            stability_section(f"Episodes of the {split} split", *found, seeds)
            for split, found in stable.items()
        ),
        "## Reading the task's step",
        reading_text(seeds),
        reading_section(results),
        "## Cost",
        COST_TEXT,
        cost_section(cost.times, cost.held),
    ]
    return "\n\n".join(parts) + "\n"


def described(name: str, model: MemoryModel) -> str:
    """What kind of model it is."""
    config = {"sees": "arm_and_hand", **model.training.get("config", {})}
    told = [f"{key} {config[key]}" for key in ("sees", "quantiser", "clustering") if key in config]
    return f"{name} ({model.hash[:12]}): {model.architecture.codes} codes, {', '.join(told)}"


def about(name: str, data: Trajectories, model: MemoryModel) -> str:
    """What episodes there are, and whether the model learned from them."""
    rules = sorted(set(data.rules))
    told = ", ".join(f"{data.rules.count(rule)} of {rule}" for rule in rules)
    kinds = told if len(rules) <= 4 else f"{len(rules)} rules"
    learned = model.training.get("data", {}).get("sha256") == digest(data.positions)
    safes = ", ".join(sorted(set(data.safes) - {""})) or "unknown safes"
    which = "those" if learned else "not the set"
    return (
        f"{name}: {len(data)} episodes ({kinds}) on {safes}, {data.frames} frames; {which} that "
        "the model learned from."
    )


def stability_section(
    title: str,
    found: Mapping[str, Mapping[str, Stability]],
    raw: Mapping[str, Estimate],
    seeds: int,
) -> str:
    """A row for each vocabulary, and one for the raw windows."""
    names = list(raw)
    some = next(iter(found.values()))
    rows = [["", *names, "by chance"]]
    for tokenizer, by_name in found.items():
        shares = [_percent(by_name[name].unchanged) for name in names]
        chance = f"{100 * by_name[names[0]].chance:.1f} %"
        rows.append([f"tokens unchanged, {tokenizer}", *shares, chance])
    rows.append(["raw windows, relative change", *(_percent(raw[name]) for name in names), ""])
    return "\n".join(
        [
            f"### {title}",
            "",
            f"{some[names[0]].tokens} tokens, at frames 0, 20, 40, ... of each episode; the noise "
            f"drawn {seeds} times.",
            "",
            markdown_table(rows),
        ]
    )


STABILITY_TEXT = f"""\
Noise is Gaussian, independent for each joint and frame, with a standard deviation of {NOISE} rad.
Another speed is the same trajectory resampled in time; a token is compared with the one at the
same fraction of the episode. "By chance" is the share that would be unchanged if tokens were drawn
with their frequencies in the stored episodes: few clusters leave much unchanged whatever happens.
The raw windows' change is the root of the mean square of what is added, over that of the distance
from the mean posture of all episodes; no share of raw windows is unchanged. In brackets: intervals
of 95 % by bootstrap over episodes ({RESAMPLES} resamples)."""


COST_TEXT = f"""\
One core, one thread, in a process of its own; a memory whose windows end at frames 0, 20, 40, ...
takes in a moving arm's joints, one frame a call. The bytes are those of a memory that has taken in
{STRIDE * LENGTH} frames; any number of memories share a tokenizer."""


def reading_text(seeds: int) -> str:
    """How the table came to be."""
    config = ProbeConfig()
    return f"""\
A network of two hidden layers of {config.hidden} learns how many steps of the plan are done, from
every {EVERY}th frame of 70 % of a rule's normal episodes; it stops early on another 10 %, and is
tested on the other 20 % and on all shifted episodes. It reads the current joints (13), and besides
nothing, raw memory ({LENGTH} x 13 positions, of the hand {LENGTH} x 6, and the mask) or sliding
tokens ({LENGTH} one-hot and the mask). The mask alone tells how long the
episode has run, up to {LENGTH * STRIDE // RATE} s.
Layers and training (Adam, {config.rate}, batches of {config.batch}, at most {config.epochs} epochs,
patience {config.patience}) are the same for all, the first layer is as wide as what is read. With
two or more rules together it is told the rule, as the instruction tells a policy, and a step of
one rule is no step of another. Macro F1 is the mean over steps. In brackets: Student's intervals of
95 %, cut at 0 and 100, over {seeds} seeds of division, weights and order; they do not hold what
another choice of recorded episodes would change."""


def reading_section(found: Sequence[ProbeResult]) -> str:
    """A row for each input, grouped by rules."""
    scores = ("accuracy", "macro F1")
    head = [f"{split}, {score}" for split in ("held-out normal", "shifted") for score in scores]
    rows = [["rules", "read from", *head]]
    for result in found:
        figures = [_percent(estimate) for estimate in (*result.normal, *result.shifted)]
        rows.append([" and ".join(result.rules), result.source, *figures])
    return markdown_table(rows, left=2)


def cost_section(
    samples: Mapping[str, NDArray[np.float64]], footprints: Mapping[str, float]
) -> str:
    """Times of single frames, and bytes."""
    rows = [["", "median, us", "99th percentile, us", "n", "goal"]]
    for name, ms in samples.items():
        figures = [f"{1000 * value:.1f}" for value in np.percentile(ms, [50, 99])]
        rows.append([name, *figures, str(len(ms)), GOALS.get(name, "")])
    sizes = [["held in memory", "kB"]] + [[name, f"{kb:.1f}"] for name, kb in footprints.items()]
    return f"{markdown_table(rows)}\n\n{markdown_table(sizes)}"


def _percent(estimate: Estimate) -> str:
    low, high = 100 * estimate.low, 100 * estimate.high
    return f"{100 * estimate.value:.1f} % ({low:.1f}..{high:.1f})"


def line(result: ProbeResult) -> str:
    """One result, as it is printed while others are still measured."""
    return (
        f"{' and '.join(result.rules)}, {result.source}: accuracy {_percent(result.normal[0])} on "
        f"held-out normal episodes, {_percent(result.shifted[0])} on shifted ones"
    )
