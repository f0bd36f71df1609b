"""Benchmarks: fixed lists of episodes, so that results of different groups are comparable.

A benchmark is a JSON file of this package with the conditions of an evaluation, and for each of its
episodes the variation (values that are nominal are omitted) and the number of poses that were
rejected before it, since the arm cannot reach them. The study `benchmarks` writes the files.
The variations are those of the episodes' seeds. They are in the file so that an episode remains the
same if the sampling changes, and is the same in `rulesafe eval`, in the evaluator node and in
Gymnasium::

    env.reset(**reset_arguments("multi_task", 3))
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.text_files import read_json
from rulesafe_eval.request import EvaluationRequest, sealed_rules
from rulesafe_sim.episode import SECONDS_A_STEP
from rulesafe_sim.randomisation import SPLITS, load_split, sample_variation
from rulesafe_sim.variation import Variation

FOLDER = Path(__file__).with_name("data") / "benchmarks"

FORMAT = "rulesafe benchmark 1"

BENCHMARKS = ("single_task", "multi_task", "out_of_distribution", "generated_locks")


@dataclass(frozen=True)
class Benchmark:
    """The conditions of an evaluation, and its episodes.

    Attributes:
        name: one of BENCHMARKS.
        title: short description.
        rules, safes, split, episodes, seed, step_seconds: as in `rulesafe eval`.
        entries: rule, number, safe, seed, resampled and variation of each episode.
    """

    name: str
    title: str
    rules: tuple[str, ...]
    safes: tuple[str, ...]
    split: str
    episodes: int
    seed: int
    step_seconds: float
    entries: tuple[Mapping[str, Any], ...]

    def conditions(self) -> dict[str, Any]:
        """Return what determines the episodes of an evaluation."""
        names = ("rules", "safes", "split", "episodes", "seed", "step_seconds")
        return {name: getattr(self, name) for name in names}

    def entry(self, index: int) -> Mapping[str, Any]:
        """Return the entry at an index from 0. Raises RuleSafeError if there is none."""
        if not 0 <= index < len(self.entries):
            raise RuleSafeError(
                f"benchmark {self.name} has the episodes 0 to {len(self.entries) - 1}, got {index}"
            )
        return self.entries[index]


SEALED = Benchmark(
    name="sealed",
    title="27 generated locks on ten safes, locks and poses from a secret key",
    rules=("sealed",),
    safes=SPLITS["nominal"].safes,
    split="nominal",
    episodes=10,
    seed=0,
    step_seconds=SECONDS_A_STEP,
    entries=(),
)
"""The conditions of the sealed benchmark. Its rules and its seed are those of a key."""

SEALED_LOCKS = 27


@lru_cache
def load_benchmark(name: str) -> Benchmark:
    """Return a benchmark.

    Raises:
        RuleSafeError: the name is unknown, or this version of RuleSafe samples other episodes.
    """
    if name not in BENCHMARKS:
        raise unknown_name("benchmark", name, BENCHMARKS)
    content = read_json(FOLDER / f"{name}.json", "a benchmark")
    del content["format"]
    entries = tuple(content.pop("entries"))
    for key in ("rules", "safes"):
        content[key] = tuple(content[key])
    found = Benchmark(name=name, entries=entries, **content)
    split = load_split(found.split).randomisation
    for entry in entries:
        sampled = sample_variation(split, entry["safe"], entry["seed"], entry["resampled"])
        if Variation.from_dict(entry["variation"]) != sampled:
            raise RuleSafeError(
                f"this version of RuleSafe has other variations than the benchmark {name}: use the "
                "version with which it was published"
            )
    return found


def reset_arguments(name: str, index: int) -> dict[str, Any]:
    """Return the arguments of `RuleSafeEnv.reset` for an episode of a benchmark.

    Args:
        name: one of BENCHMARKS.
        index: index of the episode in `Benchmark.entries`, from 0.

    Raises:
        RuleSafeError: the benchmark or the episode does not exist.
    """
    entry = load_benchmark(name).entry(index)
    return {
        "seed": entry["seed"],
        "options": {key: entry[key] for key in ("rule", "safe", "variation")},
    }


def benchmark_of(request: EvaluationRequest) -> str:
    """Return the name of the benchmark whose episodes an evaluation has; empty: none."""
    setup = request.setup
    if setup.turn_back or setup.interference or setup.control != "none":
        return ""
    keys = ("rules", "safes", "split", "episodes", "seed")
    found = {key: getattr(request, key) for key in keys} | {"step_seconds": setup.step_seconds}
    if request.commitment:  # compared with the key by `sealed.unseal`
        locks = set(sealed_rules(request.rules, request.commitment))
        if len(locks) == len(request.rules) == SEALED_LOCKS:
            found |= {"rules": SEALED.rules, "seed": SEALED.seed}
    benchmarks = (SEALED,) if request.commitment else map(load_benchmark, BENCHMARKS)
    return next((each.name for each in benchmarks if each.conditions() == found), "")
