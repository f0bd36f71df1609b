"""Episodes that the evaluator node runs: rules x safes x seeds, or those of a benchmark."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.benchmarks import load_benchmark
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.rules import load_rule
from rulesafe_sim import episode
from rulesafe_sim.safes import load_safe

MAX_EPISODES = 10_000
"""Maximum number of episodes of one evaluation."""

MAX_SEED = 2**32 - 1


@dataclass(frozen=True)
class Job:
    """An episode to run.

    Attributes:
        rule, safe: ids or paths of files.
        seed: seed of the episode.
        time_limit: simulated time that it may take, s.
        variation: JSON of its variation; empty: the simulation samples it with the seed.
        benchmark: name of the benchmark that it belongs to; empty: none.
    """

    rule: str
    safe: str
    seed: int
    time_limit: float
    variation: str = ""
    benchmark: str = ""

    @property
    def name(self) -> str:
        """The name of its folder of results."""
        return f"{Path(self.rule).stem}_{Path(self.safe).stem}_{self.seed}"

    @property
    def facts(self) -> dict[str, Any]:
        """Benchmark and variation for the summary; empty if it belongs to no benchmark."""
        if not self.benchmark:
            return {}
        return {"benchmark": self.benchmark, "variation": json.loads(self.variation)}


def seed_jobs(
    rules: Iterable[str], safes: Sequence[str], first_seed: int, episodes: int, time_limit: float
) -> list[Job]:
    """Return the episodes of rules x safes x seeds.

    Args:
        rules: rules and rule sets, as for `expand_rules`.
        safes: safes.
        first_seed: seed of the first episode of each rule and safe; each further one adds 1.
        episodes: number of episodes of each rule and safe.
        time_limit: simulated time that an episode may take, s.

    Raises:
        RuleSafeError: a name is unknown, or a number is not valid.
    """
    known = expand_rules(",".join(rules))
    for safe in safes:
        load_safe(safe)
    count = len(known) * len(safes) * episodes
    if not 1 <= count <= MAX_EPISODES:
        raise RuleSafeError(
            f"rules x safes x episodes must be 1 to {MAX_EPISODES}, got {len(known)} x "
            f"{len(safes)} x {episodes}"
        )
    if (last := first_seed + episodes - 1) > MAX_SEED:
        raise RuleSafeError(f"seeds are 0 to {MAX_SEED}, got {first_seed} to {last}")
    if not 0 <= time_limit < math.inf:
        raise RuleSafeError(
            f"time_limit must be finite and not negative (0: the parameter), got {time_limit}"
        )
    seeds = range(first_seed, last + 1)
    return [Job(*each, time_limit) for each in product(known, safes, seeds)]


def benchmark_jobs(name: str, first: int, episodes: int) -> list[Job]:
    """Return episodes of a benchmark, with its variations and time limits.

    Args:
        name: one of `benchmarks.BENCHMARKS`.
        first: index of the first episode in the benchmark, from 0.
        episodes: number of episodes.

    Raises:
        RuleSafeError: the benchmark is unknown, or has fewer episodes.
    """
    benchmark, jobs = load_benchmark(name), []
    for entry in map(benchmark.entry, range(first, first + episodes)):
        limit = episode.time_limit(load_rule(entry["rule"]), benchmark.step_seconds)
        variation = json.dumps(entry["variation"])
        jobs.append(Job(entry["rule"], entry["safe"], entry["seed"], limit, variation, name))
    return jobs
