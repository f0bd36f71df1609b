"""The episodes of an evaluation as options: of `rulesafe eval`, of the evaluator node, and of
/evaluate."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

import tyro

from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.request import EvaluationRequest, Setup, make_request
from rulesafe_sim.episode import DEFAULT_SPLIT, SECONDS_A_STEP
from rulesafe_sim.episodes import TimedPlan, plan_episodes

# The keys of benchmarks.BENCHMARKS, whose module would make the help slow.
names_of_benchmarks = tyro.conf.arg(
    metavar="{single_task,multi_task,out_of_distribution,generated_locks,written_locks}"
)


@dataclass(frozen=True)
class Conditions:
    """The episodes of an evaluation.

    Attributes:
        rules: Rules, rule sets and .json lock files, comma-separated; all: the twenty rules.
        safes: Safes, comma-separated (they need not be in the split); all: every safe of the
            split. The episodes of a rule use them in turn. Default: the safes that a checkpoint was
            trained on; all for other policies.
        episodes: Number of episodes per rule. It may be increased later.
        split: nominal, varied (small variations of all quantities), shifted (out of distribution),
            or the path of a .yaml file.
        seed: Seed of the first episode; evaluations use seeds below 10000.
        step_seconds: Time limit of an episode per step of the rule's shortest plan, s of simulated
            time.
        benchmark: Use the rules, safes, episodes, split, seed and step_seconds of a benchmark; its
            episodes are fixed.
    """

    rules: str = "all"
    safes: str = ""
    episodes: int = 100
    split: str = DEFAULT_SPLIT
    seed: int = 0
    step_seconds: float = SECONDS_A_STEP
    benchmark: Annotated[str, names_of_benchmarks] = ""

    def request(self, setup: Setup, actor: Mapping[str, Any]) -> EvaluationRequest:
        """Return the request for an agent with a description.

        Raises:
            RuleSafeError: an option is not valid, or is determined by the benchmark.
        """
        found = self._of_benchmark() if self.benchmark else self
        return make_request(setup, actor, found.plan(actor))

    def plan(self, actor: Mapping[str, Any]) -> TimedPlan:
        """Return the episodes; by default on the safes that the agent was trained on."""
        trained_on = (actor.get("data") or {}).get("safes") or ("all",)
        safes = self.safes or ",".join(trained_on)
        return plan_episodes(
            self.rules, safes, self.split, self.episodes, self.seed, self.step_seconds
        )

    def _of_benchmark(self) -> "Conditions":
        """Return the conditions of the benchmark. Raises RuleSafeError if one of them is given."""
        from rulesafe_sim.benchmarks import load_benchmark

        fixed = load_benchmark(self.benchmark).conditions()
        for each in fields(self):
            if each.name in fixed and getattr(self, each.name) != each.default:
                option = each.name.replace("_", "-")
                raise RuleSafeError(
                    f"--benchmark {self.benchmark} determines the {option}: omit --{option}"
                )
        fixed |= {key: ",".join(fixed[key]) for key in ("rules", "safes")}
        return replace(self, **fixed)
