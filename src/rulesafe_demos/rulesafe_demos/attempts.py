"""The request for demonstrations; its episodes are the attempts of the expert or of programs."""

from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.plugins import FORM, is_reference
from rulesafe_core.text_files import sha256
from rulesafe_core.versions import versions
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_data.run_folder import RunRequest
from rulesafe_locks.lock_sets import join_rules
from rulesafe_locks.locks import Rule
from rulesafe_sim.episodes import (
    MAX_BASE,
    NUMBERED_RULES,
    SEEDS_PER_RULE,
    attempt_seed,
    plan_episodes,
)

EXPERT_TIME_LIMIT = 300.0
"""Simulated time after which the expert begins no further motion, s."""

PROGRAM_TIME_LIMIT = 600.0
"""Simulated time limit of a task program, s."""


def program_file(folder: str, rule: str) -> Path:
    """Return the file of a rule's task program in a folder of programs."""
    return Path(folder) / f"{rule}.py"


@dataclass(frozen=True, kw_only=True)
class GenerationRequest(RunRequest):
    """Arguments of `rulesafe demos generate`, stored in DIR/generate.json.

    Attributes:
        episodes: number of successes per rule.
        attempts: maximum number of attempts per rule.
        style: style of the motions, one of `planner_node.habits.STYLES`.
        misses: probability that a grasp of the expert deliberately misses.
        by: expert, programs, or `module:Class` of an agent.
        programs: folder of task programs; empty: written for the rule's shortest plan.
    """

    GROWING = ("episodes", "attempts")

    attempts: int
    style: str = "varied"
    misses: float = 0.0
    by: str = "expert"
    programs: str = ""

    def time_limit(self, rule: Rule) -> float:
        return EXPERT_TIME_LIMIT if self.by == "expert" else PROGRAM_TIME_LIMIT

    def seed_of(self, rule: str, number: int) -> int:
        return attempt_seed(self.seed, rule, number)

    def first_safe(self, rule: str) -> int:
        """The twenty rules begin with the first safe. Generated rules, of which there are many with
        few attempts each, begin with one that depends on their id."""
        return 0 if rule in NUMBERED_RULES else crc32(rule.encode())

    def command(self) -> str:
        """Return the command line of this request, without the directory."""
        rules = join_rules([self.locks.get(rule, rule) for rule in self.rules])
        return (
            f"rulesafe demos generate --rules {rules} --episodes {self.episodes} "
            f"--attempts {self.attempts} --safes {','.join(self.safes)} --split {self.split} "
            f"--seed {self.seed}{'' if self.style == 'varied' else f' --style {self.style}'}"
            f"{f' --misses {self.misses:g}' if self.misses else ''}"
            f"{'' if self.by == 'expert' else f' --by {self.by}'}"
            f"{f' --programs {self.programs}' if self.programs else ''}"
        )


def make_request(
    rules: str,
    episodes: int,
    attempts: int | None,
    safes: str,
    split: str,
    seed: int,
    style: str = "varied",
    misses: float = 0.0,
    by: str = "expert",
    programs: str = "",
) -> GenerationRequest:
    """Return the request for command-line arguments; rules, safes and split as for
    `plan_episodes`, but only safes of the split.

    Args:
        attempts: maximum number per rule; None for twice the episodes plus 20.
        misses: probability that a grasp of the expert deliberately misses.
        by: who demonstrates: expert, programs, or `module:Class` of an agent.
        programs: folder of task programs, RULE.py; empty: written for each rule's shortest plan.

    Raises:
        RuleSafeError: for invalid arguments.
    """
    plan = plan_episodes(rules, safes, split, episodes, seed, only_split=True)
    limit = 2 * episodes + 20 if attempts is None else attempts
    if episodes < 1 or limit < episodes:
        raise RuleSafeError(
            f"episodes must be at least 1 and attempts at least as many, got {episodes} episodes "
            f"and {limit} attempts"
        )
    if not 0 <= seed <= MAX_BASE or limit > SEEDS_PER_RULE:
        raise RuleSafeError(
            f"seed must be in 0..{MAX_BASE} and attempts at most {SEEDS_PER_RULE}; got seed {seed} "
            f"and {limit} attempts"
        )
    if not 0 <= misses < 1 or (misses and by != "expert"):
        raise RuleSafeError(
            f"misses must be in 0..1, below 1, and are made by the expert; got {misses} by {by}"
        )
    if by not in ("expert", "programs") and not is_reference(by):
        raise unknown_name("demonstrator", by, ("expert", "programs", FORM))
    if programs and by != "programs":
        raise RuleSafeError("a folder of programs is valid only for demonstrations by programs")
    sources = [program_file(str(Path(programs).absolute()), rule) for rule in plan.rules]
    if programs and (missing := [path.name for path in sources if not path.is_file()]):
        raise RuleSafeError(f"{programs} has no program {', '.join(missing)}")
    from planner_node.habits import style_config  # loads the planner, so after the other checks

    style_config(style)
    return GenerationRequest(
        rules=plan.rules,
        episodes=episodes,
        attempts=limit,
        safes=plan.safes,
        split=plan.split,
        seed=seed,
        versions=versions(),
        files={**plan.files, **{str(path): sha256(path) for path in sources if programs}},
        locks=plan.locks,
        style=style,
        misses=misses,
        by=by,
        programs=str(Path(programs).absolute()) if programs else "",
    )


def load_request(directory: Path) -> GenerationRequest:
    """Return the request stored in a directory of demonstrations. Raises RuleSafeError."""
    return DemoFolder(directory).request(GenerationRequest)
