"""What is asked for, and the episodes it takes: the same ones for every policy."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_data.files import read_json
from rulesafe_demos import attempts
from rulesafe_demos.attempts import EVALUATION_SEEDS, Attempt
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import Rule, load_rule

SPLIT_OF = {"normal": "train", "shifted": "shifted", "nominal": "nominal"}
"""What `--split` may be, besides a .yaml file, and the split of rulesafe_sim that it means."""

EXECUTE = 12
"""Rows of each chunk of 50 that are executed before the policy is asked again. Of 24 episodes of
rule_001 a DP3 tiny with 32 tokens opened 19 with 12 rows and 16 with 25."""

EXECUTION: Literal["newest", "blended"] = "blended"
"""Where chunks overlap, their weighted mean is followed, not the newest alone: of 24 episodes of
rule_020 a DP3 tiny with 4 tokens opened 20 so, and 15 with the newest alone. A new chunk begins
some millimetres beside the old one, and a bar that is being turned slips then."""

SECONDS_A_STEP = 20.0
"""Simulated time that an episode may take for each event of the rule's shortest plan, s. Of 200
demonstrations in the split train the slowest took 9.1 s a step."""


@dataclass(frozen=True)
class Setup:
    """Who acts, and how: all that a worker must know besides the episode.

    Attributes:
        policy: what `agents.load_agent` takes: an oracle, an agent, a checkpoint, a policy.
        execute: rows of each chunk that are executed; of checkpoints only.
        execution: one of `rulesafe_core.chunks.EXECUTORS`; of checkpoints only.
        control: one of `policies.CONTROLS`; of checkpoints only.
        step_seconds: simulated time for each event of the shortest plan, s.
    """

    policy: str
    execute: int = EXECUTE
    execution: str = EXECUTION
    control: str = "none"
    step_seconds: float = SECONDS_A_STEP

    def time_limit(self, rule: str | Rule) -> float:
        """Simulated time that an episode under a rule may take, s."""
        return self.step_seconds * len(shortest_plan(load_rule(rule)))


@dataclass(frozen=True)
class EvaluationRequest:
    """What `rulesafe eval` was asked for; DIR/eval.json keeps it. `episodes` may grow later, and
    everything else stays."""

    FILE: ClassVar = "eval.json"
    GROWING: ClassVar = ("episodes",)
    NESTED: ClassVar = {
        "versions": "version of {}",
        "setup": "{} of the policy",
        "actor": "{} of the checkpoint",
    }

    setup: Setup
    rules: tuple[str, ...]
    episodes: int  # of each rule
    safes: tuple[str, ...]
    split: str  # of rulesafe_sim, or a .yaml file
    seed: int
    actor: Mapping[str, Any]  # what is known of who acts; of a checkpoint its files' SHA-256
    versions: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of the user's own files
    locks: Mapping[str, str] = field(default_factory=dict)  # files of the user's own rules

    def episode(self, rule: str, number: int) -> Attempt:
        """A rule's episode: safes in turn, seeds from `seed` on, below those of demonstrations."""
        safe = self.safes[number % len(self.safes)]
        source = self.locks.get(rule, "")
        return Attempt(rule, number, safe, self.seed + number, self.split, source)

    def all_episodes(self) -> Iterator[Attempt]:
        """Every rule's first, every rule's second, and so on."""
        for number in range(self.episodes):
            for rule in self.rules:
                yield self.episode(rule, number)


def make_request(
    setup: Setup,
    actor: Mapping[str, Any],
    rules: str,
    safes: str,
    episodes: int,
    split: str,
    seed: int,
) -> EvaluationRequest:
    """The request that command line words stand for; rules and safes as in `rulesafe demos
    generate`. Errors: RuleSafeError for what is not valid."""
    if split not in SPLIT_OF and not split.endswith((".yaml", ".yml")):
        raise unknown_name("split", split, (*SPLIT_OF, "or a path to a .yaml file"))
    if episodes < 1 or seed < 0 or seed + episodes > EVALUATION_SEEDS:
        raise RuleSafeError(
            f"evaluations have the seeds 0..{EVALUATION_SEEDS - 1}, one for each episode of a "
            f"rule; got {episodes} episodes from seed {seed} on"
        )
    if not setup.step_seconds > 0:
        raise RuleSafeError(
            f"an episode needs more than 0 s for each event of its plan, not {setup.step_seconds:g}"
        )
    of = SPLIT_OF.get(split, split)
    meant = attempts.make_request(rules, 1, None, safes, of, 0, others=True)
    return EvaluationRequest(
        setup=setup,
        rules=meant.rules,
        episodes=episodes,
        safes=meant.safes,
        split=meant.split,
        seed=seed,
        actor=dict(actor),
        versions=meant.versions,
        files=meant.files,
        locks=meant.locks,
    )


def load_request(directory: Path) -> EvaluationRequest:
    """The request that a directory of results was made for. Errors: RuleSafeError."""
    path = directory / "eval.json"
    try:
        content = read_json(path, "a request for an evaluation")
    except FileNotFoundError:
        raise RuleSafeError(
            f"{directory} holds no evaluation: no {path.name}. Make one: rulesafe eval --out DIR"
        ) from None
    try:
        content["setup"] = Setup(**content["setup"])
        for key in ("rules", "safes"):
            content[key] = tuple(content[key])
        return EvaluationRequest(**content)
    except (TypeError, KeyError) as error:
        raise RuleSafeError(f"{path} is not a request for an evaluation: {error}") from error
