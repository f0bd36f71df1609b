"""Benchmarks: fixed plans of episodes, so that results of different groups are comparable.

A benchmark is a JSON file of this package with the conditions of an evaluation, and for each of its
episodes the variation (values that are nominal are omitted) and the number of poses that were
rejected before it, since the arm cannot reach them. The study `benchmarks` writes the files. The
variations are those of the episodes' seeds. They are in the file so that an episode remains the
same if the sampling changes, and is the same in `rulesafe eval`, over ROS and in Gymnasium::

    episodes = list(load_benchmark("multi_task"))
    env.reset(options={"episode": episodes[3]})
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.text_files import read_json
from rulesafe_sim.episodes import Episode, TimedPlan
from rulesafe_sim.variation import Variation

FOLDER = Path(__file__).with_name("data") / "benchmarks"

FORMAT = "rulesafe benchmark 1"

BENCHMARKS = (
    "single_task",
    "multi_task",
    "out_of_distribution",
    "generated_locks",
    "written_locks",
)


@dataclass(frozen=True, kw_only=True)
class Benchmark(TimedPlan):
    """The conditions of an evaluation, and its episodes with their variations.

    Attributes:
        name: one of BENCHMARKS.
        title: short description.
        entries: rule, number, safe, seed, resampled and variation of each episode.
    """

    name: str
    title: str
    entries: tuple[Mapping[str, Any], ...]

    def conditions(self) -> dict[str, Any]:
        """Return what determines the episodes of an evaluation."""
        names = ("rules", "safes", "split", "episodes", "seed", "step_seconds")
        return {name: getattr(self, name) for name in names}

    def episode(self, rule: str, number: int) -> Episode:
        if rule not in self.rules or not 0 <= number < self.episodes:
            raise RuleSafeError(
                f"benchmark {self.name} has the episodes 0 to {self.episodes - 1} of "
                f"{', '.join(self.rules)}; got {number} of {rule}"
            )
        entry = self.entries[number * len(self.rules) + self.rules.index(rule)]
        variation = Variation.from_dict(entry["variation"])
        found = super().episode(rule, number)
        return replace(found, variation=variation, resampled=entry["resampled"])


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
    for key in ("rules", "safes", "entries"):
        content[key] = tuple(content[key])
    found = Benchmark(name=name, files={}, locks={}, **content)
    for episode, entry in zip(found, found.entries, strict=True):
        stated = {key: entry[key] for key in ("rule", "number", "safe", "seed")}
        if {key: getattr(episode, key) for key in stated} != stated or (
            episode.variation != episode.sample(episode.resampled)
        ):
            raise RuleSafeError(
                f"this version of RuleSafe has other variations than the benchmark {name}: use the "
                "version with which it was published"
            )
    return found
