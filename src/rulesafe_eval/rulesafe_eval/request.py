"""The request of an evaluation, and its episodes, which are the same for every policy."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import read_json
from rulesafe_demos.attempts import EVALUATION_SEEDS, Attempt, select_scenes, versions
from rulesafe_locks.rules import Rule, load_rule
from rulesafe_sim.episode import SECONDS_A_STEP, time_limit

EXECUTE = 12
"""Number of actions of each chunk that are executed before the next inference. Chosen by
experiment: in 24 episodes of rule_001, DP3 tiny with 32 tokens had 19 successes with 12 actions and
16 with 25."""

EXECUTION: Literal["newest", "blended"] = "blended"
"""Overlapping chunks are combined by a weighted mean. In 24 episodes of rule_020 a DP3 tiny with 4
tokens succeeded in 20 with the mean and in 15 with the newest chunk only. A new chunk starts some
millimetres from the previous one, and a bar that is being turned slips then."""


MAX_STEP_SECONDS = 1000.0
"""Maximum time limit for each step of a plan, s."""

SEALED_SEEDS = 2**32
"""Seeds from this one on are derived from the key of a sealed evaluation."""


def sealed_prefix(commitment: str) -> str:
    """Return the prefix of the ids of the locks of a sealed evaluation, which differs by key."""
    return f"sealed_{commitment[:8]}"


def sealed_rules(rules: Iterable[str], commitment: str) -> list[str]:
    """Return the rules that are locks of the key with a commitment; none if it is empty."""
    prefix = f"{sealed_prefix(commitment)}_"
    return [rule for rule in rules if commitment and rule.startswith(prefix)]


def title_of(policy: str) -> str:
    """Return a policy's name for titles: of a checkpoint's absolute path only the folder's name."""
    return Path(policy).name if Path(policy).is_absolute() else policy


def disturbances_of(setup: Mapping[str, Any]) -> str:
    """Return the disturbances of an evaluation's episodes as text; empty: none."""
    known = {"turned back": "turn_back", "interference": "interference"}
    return ", ".join(text for text, name in known.items() if setup.get(name))


@dataclass(frozen=True)
class Setup:
    """The agent and how it is run: everything that a worker needs besides the episode.

    Attributes:
        policy: an agent or policy, as for `agents.load_agent`.
        execute: number of actions of each chunk that are executed; policies only.
        execution: one of `rulesafe_core.chunks.EXECUTORS`; policies only.
        control: one of `policies.CONTROLS`; policies only.
        step_seconds: simulated time for each event of the shortest plan, s.
        turn_back: whether a part is turned back once in an episode, see `disturbances.TurnBack`.
        interference: whether the robot moves parts before the episode, see `interference`.
    """

    policy: str
    execute: int = EXECUTE
    execution: str = EXECUTION
    control: str = "none"
    step_seconds: float = SECONDS_A_STEP
    turn_back: bool = False
    interference: bool = False

    def time_limit(self, rule: str | Rule, extra: int = 0) -> float:
        """Return the simulated time limit of an episode under a rule, s, with some extra steps."""
        return time_limit(load_rule(rule), self.step_seconds) + extra * self.step_seconds


@dataclass(frozen=True)
class EvaluationRequest:
    """Arguments of `rulesafe eval`, stored in DIR/eval.json. `episodes` may be increased later;
    everything else must stay the same."""

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
    actor: Mapping[str, Any]  # description of the agent, with the SHA-256 of a checkpoint's files
    versions: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of custom files
    locks: Mapping[str, str] = field(default_factory=dict)  # files of custom rules
    commitment: str = ""  # SHA-256 of the key of a sealed evaluation

    def episode(self, rule: str, number: int) -> Attempt:
        """Return episode `number` of a rule. Episodes use the safes in turn and consecutive seeds,
        which are below those of demonstrations."""
        safe = self.safes[number % len(self.safes)]
        source = self.locks.get(rule, "")
        return Attempt(rule, number, safe, self.seed + number, self.split, source)

    def all_episodes(self) -> Iterator[Attempt]:
        """Yield the first episode of every rule, then the second of every rule, and so on."""
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
    commitment: str = "",
) -> EvaluationRequest:
    """Return the request for command-line arguments; rules and safes as in `rulesafe demos
    generate`. Raises RuleSafeError for invalid arguments."""
    check_range(episodes, seed, setup.step_seconds, bool(commitment))
    scenes = select_scenes(rules, safes, split, others=True)
    return EvaluationRequest(
        setup=setup,
        rules=scenes.rules,
        episodes=episodes,
        safes=scenes.safes,
        split=scenes.split,
        seed=seed,
        actor=dict(actor),
        versions=versions(),
        files=scenes.files,
        locks=scenes.locks,
        commitment=commitment,
    )


def check_range(episodes: int, seed: int, step_seconds: float, sealed: bool = False) -> None:
    """Raise RuleSafeError if a number of a request is out of its range.

    Args:
        episodes, seed: number of episodes of a rule, and the seed of the first one.
        step_seconds: time limit for each step, s.
        sealed: whether the seed is derived from a key.
    """
    first = seed if sealed and seed >= SEALED_SEEDS else 0
    if episodes < 1 or seed < 0 or seed - first + episodes > EVALUATION_SEEDS:
        raise RuleSafeError(
            f"evaluations have the seeds 0..{EVALUATION_SEEDS - 1}, one for each episode of a "
            f"rule; got {episodes} episodes from seed {seed}"
        )
    if not 0 < step_seconds <= MAX_STEP_SECONDS:
        raise RuleSafeError(
            f"step_seconds must be more than 0 s, at most {MAX_STEP_SECONDS:g} s, got "
            f"{step_seconds!r:.40}"
        )


def request_from(content: Mapping[str, Any]) -> EvaluationRequest:
    """Return the request of its JSON; raise TypeError or KeyError if an entry is invalid."""
    tuples = {key: tuple(content[key]) for key in ("rules", "safes")}
    return EvaluationRequest(**{**content, **tuples, "setup": Setup(**content["setup"])})


def load_request(directory: Path) -> EvaluationRequest:
    """Return the request of a directory of results. Raises RuleSafeError if there is none."""
    path = directory / "eval.json"
    try:
        content = read_json(path, "a request for an evaluation")
    except FileNotFoundError:
        raise RuleSafeError(
            f"{directory} has no {path.name}; run rulesafe eval --policy NAME --out {directory}"
        ) from None
    try:
        return request_from(content)
    except (TypeError, KeyError) as error:
        raise RuleSafeError(f"{path} is not a valid request of an evaluation: {error}") from error
