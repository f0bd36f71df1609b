"""Episodes: what determines one, its JSON form, and the plans of several.

`plan_episodes` resolves the names of rules, safes, split and benchmark once. An episode of the plan
is complete when its variation is fixed, which `place` does with a check of the arm's reach. The
check is passed in, since it belongs to the planner. Evaluations in process and over ROS,
demonstrations and the Gymnasium environment run these episodes. Example::

    from planner_node.reach import out_of_reach

    plan = plan_episodes("rule_001,rule_020", seed=7)
    episode = place(plan.episode("rule_020", 3), out_of_reach)
    observation, info = env.reset(options={"episode": episode})  # RuleSafe-v1
    request.episode = json.dumps(episode.to_dict())  # /episode/reset
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any
from zlib import crc32

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.strict_yaml import as_mapping, check_keys
from rulesafe_core.text_files import parse_json, sha256
from rulesafe_locks.lock_files import LOCKS, lock_folders
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.locks import Rule
from rulesafe_locks.rules import RULES, load_rule
from rulesafe_sim import episode as limits
from rulesafe_sim.episode import DEFAULT_SPLIT, SECONDS_A_STEP
from rulesafe_sim.randomisation import Randomisation, load_split, sample_variation
from rulesafe_sim.safe import Safe
from rulesafe_sim.safes import SAFES, load_safe, safe_file
from rulesafe_sim.variation import Variation

EVALUATION_SEEDS = 10_000
"""Seeds below this one are reserved for evaluations; no demonstration uses them."""

SEEDS_PER_RULE = 50_000
"""Number of seeds reserved for the attempts of one rule."""

MAX_BASE = 4000
"""Largest base seed of demonstrations."""

NUMBERED_RULES = {f"rule_{number + 1:03d}": number for number in range(20)}
"""Rules with their own blocks of seeds. Rules that are added later get blocks by their ids, so that
no seed depends on the number of rules."""

MAX_STEP_SECONDS = 1000.0
"""Maximum time limit for each step of a plan, s."""

MAX_SEED = 2**64 - 1

DRAWS = 20
"""Number of safe poses that are sampled to find one within reach."""

Check = Callable[[Safe, Rule, Variation], str]
"""Function that returns why the arm cannot operate a safe under a rule in a variation; empty if it
can. See `planner_node.reach.out_of_reach`."""


class OutOfReach(RuleSafeError):
    """The arm can operate the safe at none of the sampled poses."""


@dataclass(frozen=True)
class Episode:
    """All that determines an episode before the robot moves.

    Attributes:
        rule: id of the rule.
        safe: id of the safe, or the path of its file.
        seed: seed of the episode.
        split: split from which the variation is sampled, or the path of its file.
        number: index among the episodes of the rule, from 0.
        lock: path of the rule's file if it is a custom rule; else empty.
        time_limit: simulated time after which the episode has failed, s.
        resampled: number of poses of the safe that were rejected before that of the variation.
        variation: None until it is fixed.
    """

    rule: str
    safe: str
    seed: int
    split: str = DEFAULT_SPLIT
    number: int = 0
    lock: str = ""
    time_limit: float = 300.0
    resampled: int = 0
    variation: Variation | None = None

    @property
    def source(self) -> str:
        """Argument of `load_rule`: the path of the rule's file, or its id."""
        return self.lock or self.rule

    @property
    def key(self) -> tuple[str, int]:
        """Rule and number, which identify an episode of a run."""
        return self.rule, self.number

    def sample(self, draw: int = 0) -> Variation:
        """Return the variation of a draw of the safe's pose."""
        return sample_variation(load_split(self.split).randomisation, self.safe, self.seed, draw)

    def fixed(self) -> Variation:
        """Return the variation; one that is not fixed is the first of the seed."""
        return self.variation or self.sample()

    def __str__(self) -> str:
        return f"{self.rule} episode {self.number} ({Path(self.safe).stem}, seed {self.seed})"

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON-compatible values."""
        found = dict(vars(self))
        found["variation"] = self.variation.to_dict() if self.variation else None
        return found

    @classmethod
    def from_dict(cls, data: Any) -> "Episode":
        """Convert from `to_dict`; keys with a default may be missing.

        Raises:
            RuleSafeError: a key is unknown or missing, or a value is not valid.
        """
        where = "the episode"
        data = dict(as_mapping(data, where))
        optional = [each.name for each in fields(cls) if each.default is not MISSING]
        check_keys(data, [each.name for each in fields(cls)], where, optional)
        for name, value in data.items():
            if name != "variation":
                _check(name, value)
        if data.get("variation") is not None:
            data["variation"] = Variation.from_dict(data["variation"])
        return cls(**data)

    @classmethod
    def from_json(cls, text: str) -> "Episode":
        """Convert from the JSON of `to_dict`. Raises RuleSafeError for text that is not valid."""
        try:
            return cls.from_dict(parse_json(text))
        except ValueError as error:
            raise RuleSafeError(f"the episode is not valid JSON: {error}") from None

    def to_json(self) -> str:
        """Convert to JSON."""
        return json.dumps(self.to_dict())


def _check(name: str, value: Any) -> None:
    """Raise RuleSafeError if a value of an episode's JSON is not valid."""
    if name in ("rule", "safe", "split", "lock"):
        if not isinstance(value, str) or (not value and name != "lock"):
            raise RuleSafeError(f"{name} of the episode must be text, not {value!r:.80}")
        return
    if name == "time_limit":
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not 0 < value < math.inf:
            raise RuleSafeError(f"time_limit of the episode must be above 0 s, not {value!r:.80}")
        return
    largest = MAX_SEED if name == "seed" else 10**9
    if type(value) is not int or not 0 <= value <= largest:
        raise RuleSafeError(
            f"{name} of the episode must be an integer from 0 to {largest}, not {value!r:.80}"
        )


def place(episode: Episode, out_of_reach: Check) -> Episode:
    """Fix the variation of an episode: the first of its seed in which the arm can operate the safe.

    Only the safe's pose differs between the variations of a seed. The search takes seconds for a
    rule with many steps, so it belongs into the process that runs the episode. The variation of an
    episode that has one is kept.

    Raises:
        OutOfReach: after DRAWS poses.
    """
    if episode.variation:
        return episode
    rule, safe = load_rule(episode.source), load_safe(episode.safe)
    randomisation = load_split(episode.split).randomisation
    variation, draw = reachable_variation(safe, rule, randomisation, episode.seed, out_of_reach)
    return replace(episode, variation=variation, resampled=draw)


def reachable_variation(
    safe: Safe, rule: Rule, randomisation: Randomisation, seed: int, out_of_reach: Check
) -> tuple[Variation, int]:
    """Return the first of a seed's variations in which the arm can operate the safe, and the number
    of poses rejected before it. Raises OutOfReach after DRAWS poses."""
    for draw in range(DRAWS):
        variation = sample_variation(randomisation, safe, seed, draw)
        if not out_of_reach(safe, rule, variation):
            return variation, draw
    raise OutOfReach(
        f"{safe.id}, seed {seed}: the safe is out of the arm's reach at all {DRAWS} sampled "
        "poses; use a split with a narrower placement"
    )


@dataclass(frozen=True, kw_only=True)
class EpisodePlan:
    """Rules, safes and seeds, and their episodes: the safes in turn, and consecutive seeds.

    Attributes:
        rules: ids.
        episodes: number of episodes of each rule.
        safes: ids, and paths of the files of custom safes.
        split: name, or the path of a file.
        seed: seed of the first episode of each rule.
        files: SHA-256 of the custom files by path.
        locks: paths of the files of custom rules by id.
    """

    rules: tuple[str, ...]
    episodes: int
    safes: tuple[str, ...]
    split: str
    seed: int
    files: Mapping[str, str]
    locks: Mapping[str, str]

    def time_limit(self, rule: Rule) -> float:
        """Return the time limit of an episode under a rule, s."""
        return limits.time_limit(rule)

    def seed_of(self, rule: str, number: int) -> int:
        """Return the seed of an episode."""
        return self.seed + number

    def first_safe(self, rule: str) -> int:
        """Return the index of the safe of the rule's first episode, modulo the number of safes."""
        return 0

    def episode(self, rule: str, number: int) -> Episode:
        """Return episode `number` of a rule of the plan; its variation is not fixed."""
        lock = self.locks.get(rule, "")
        return Episode(
            rule=rule,
            safe=self.safes[(self.first_safe(rule) + number) % len(self.safes)],
            seed=self.seed_of(rule, number),
            split=self.split,
            number=number,
            lock=lock,
            time_limit=self.time_limit(load_rule(lock or rule)),
        )

    def __iter__(self) -> Iterator[Episode]:
        """Yield the first episode of every rule, then the second of every rule, and so on."""
        for number in range(self.episodes):
            for rule in self.rules:
                yield self.episode(rule, number)


@dataclass(frozen=True, kw_only=True)
class TimedPlan(EpisodePlan):
    """A plan with another time limit: `step_seconds` for each event of the shortest plan, s."""

    step_seconds: float = SECONDS_A_STEP

    def time_limit(self, rule: Rule) -> float:
        return limits.time_limit(rule, self.step_seconds)

    def seed_of(self, rule: str, number: int) -> int:
        """Return the seed of an episode. Raises RuleSafeError for a seed of demonstrations."""
        check_seeds(self.seed, number + 1)
        return super().seed_of(rule, number)


def check_seeds(first: int, episodes: int) -> None:
    """Raise RuleSafeError unless the seeds of some episodes are those of evaluations.

    Args:
        first, episodes: seed of the first episode of a rule, and their number.
    """
    if episodes < 1 or first < 0 or first + episodes > EVALUATION_SEEDS:
        raise RuleSafeError(
            f"evaluations have the seeds 0..{EVALUATION_SEEDS - 1}, one for each episode of a "
            f"rule; got {episodes} episodes from seed {first}"
        )


def check_step_seconds(step_seconds: float) -> None:
    """Raise RuleSafeError unless a time limit for each step of a plan (s) is valid."""
    if not 0 < step_seconds <= MAX_STEP_SECONDS:
        raise RuleSafeError(
            f"step_seconds must be more than 0 s, at most {MAX_STEP_SECONDS:g} s, got "
            f"{step_seconds!r:.40}"
        )


def plan_episodes(
    rules: str = "all",
    safes: str = "all",
    split: str = DEFAULT_SPLIT,
    episodes: int = 1,
    seed: int = 0,
    step_seconds: float = SECONDS_A_STEP,
    only_split: bool = False,
) -> TimedPlan:
    """Return the episodes of comma-separated names of rules and safes.

    Args:
        rules: ids, sets and .json files, as for `expand_rules`; all: the twenty.
        safes: ids and .yaml files; all: those of the split.
        split: name of a split, or a .yaml file.
        episodes: number of episodes of each rule.
        seed: seed of the first episode of each rule; each further one adds 1.
        step_seconds: time limit for each event of the rule's shortest plan, s.
        only_split: whether built-in safes outside of the split are invalid. Demonstrations must not
            use them, since they are reserved for tests.

    Raises:
        RuleSafeError: a name or a number is not valid.
    """
    check_step_seconds(step_seconds)
    chosen, locks = _rules(rules)
    used = _safes(split, safes, only_split)
    split = str(Path(split).absolute()) if _is_file(split) else split
    names = (*filter(_is_file, (split, *used)), *locks.values())
    return TimedPlan(
        rules=chosen,
        episodes=episodes,
        safes=used,
        split=split,
        seed=seed,
        files={name: sha256(Path(name)) for name in names},
        locks=locks,
        step_seconds=step_seconds,
    )


def _rules(names: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the ids of the rules, in order, and the files of custom rules."""
    locks: dict[str, str] = {}
    ids: list[str] = []
    for name, rule in expand_rules(names).items():
        found, path = rule.id, _lock_file(name)
        if found in ids:
            raise RuleSafeError(f"two rules have the id {found}: {locks.get(found, found)}, {path}")
        ids.append(found)
        if path:
            locks[found] = path
    order = {rule: number for number, rule in enumerate(RULES)}
    return tuple(sorted(ids, key=lambda rule: (order.get(rule, len(RULES)), rule))), locks


def _lock_file(name: str) -> str:
    """Return the path of a custom rule's file, given by path or in an additional set, else ""."""
    if name in RULES:
        return ""
    if name.endswith(".json"):
        return str(Path(name).absolute())
    paths = (folder / f"{name}.json" for folder in lock_folders() if folder.parent != LOCKS)
    return next((str(path.absolute()) for path in paths if path.is_file()), "")


def _is_file(name: str) -> bool:
    """Return whether a name is the file of a custom safe or split."""
    return name.endswith((".yaml", ".yml"))


def _safes(split: str, text: str, only_split: bool) -> tuple[str, ...]:
    """Return the ids of the built-in safes and the absolute paths of custom safe files."""
    known = load_split(split).safes
    names = known if text == "all" else tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name in SAFES and name not in known and only_split:
            raise unknown_name(f"safe of the split {split}", name, ("all", *known))
        load_safe(name)
    return tuple(name if name in SAFES else str(safe_file(name).absolute()) for name in names)


def attempt_seed(base: int, rule: str, number: int) -> int:
    """Return the seed of attempt `number` of a demonstration.

    It is at least EVALUATION_SEEDS and fits into 32 bits for a base up to MAX_BASE. Under the
    NUMBERED_RULES every attempt, rule and base has a different seed. Any other rule shares no seed
    with them. Its block of seeds is chosen from some 5900 by its id and the base, so two such rules
    may have the same block: their safes are then at the same poses, under different locks.
    """
    count = len(NUMBERED_RULES)
    if rule in NUMBERED_RULES:
        block = base * count + NUMBERED_RULES[rule]
    else:
        taken = (MAX_BASE + 1) * count
        left = (2**32 - EVALUATION_SEEDS) // SEEDS_PER_RULE - taken
        block = taken + crc32(f"{base} {rule}".encode()) % left
    return EVALUATION_SEEDS + block * SEEDS_PER_RULE + number
