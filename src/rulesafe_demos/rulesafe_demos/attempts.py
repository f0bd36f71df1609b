"""The request for demonstrations, and its attempts: rule, safe and seed of each."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from platform import python_version
from typing import Any, ClassVar, NamedTuple
from zlib import crc32

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.versions import installed
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_data.files import sha256, write_json
from rulesafe_locks.lock_files import LOCKS, lock_folders
from rulesafe_locks.lock_sets import expand_rules, join_rules
from rulesafe_locks.rules import RULES
from rulesafe_sim.randomisation import load_split
from rulesafe_sim.safes import SAFES, load_safe, safe_file

EVALUATION_SEEDS = 10_000
"""Seeds below this one are reserved for evaluations; no demonstration uses them."""

SEEDS_PER_RULE = 50_000
"""Number of seeds reserved for the attempts of one rule."""

MAX_BASE = 4000
"""Largest base seed."""

PACKAGES = ("rulesafe", "numpy", "scipy", "sapien", "pin", "coal", "ompl", "toppra", "daqp")
"""Distributions whose versions may change the outcome of an attempt."""


def seed_of(base: int, rule: str, number: int) -> int:
    """Return the seed of a rule's attempt `number`.

    It is at least EVALUATION_SEEDS and fits into 32 bits for a base up to MAX_BASE. Under the
    twenty rules every attempt, rule and base has a different seed. Any other rule shares no seed
    with them. Its block of seeds is chosen from some 5900 by its id and the base, so two such rules
    may have the same block: their safes are then at the same poses, under different locks.
    """
    if rule in RULES:
        block = base * len(RULES) + RULES.index(rule)
    else:
        taken = (MAX_BASE + 1) * len(RULES)
        left = (2**32 - EVALUATION_SEEDS) // SEEDS_PER_RULE - taken
        block = taken + crc32(f"{base} {rule}".encode()) % left
    return EVALUATION_SEEDS + block * SEEDS_PER_RULE + number


def program_file(folder: str, rule: str) -> Path:
    """Return the file of a rule's task program in a folder of programs."""
    return Path(folder) / f"{rule}.py"


@dataclass(frozen=True)
class Attempt:
    """One attempt of the expert or of a task program."""

    rule: str
    number: int  # index among the rule's attempts, from 0
    safe: str
    seed: int
    split: str
    lock: str = ""  # file of a custom rule; empty for a rule of the package
    style: str = "varied"  # of the motions, one of planner_node.habits.STYLES
    by: str = "expert"  # who acts: expert or programs
    program: str = ""  # file of the task program; empty: written for the rule's shortest plan

    @property
    def source(self) -> str:
        """Argument of `load_rule`: the path of the rule's file, or its ID."""
        return self.lock or self.rule

    def __str__(self) -> str:
        return f"{self.rule} attempt {self.number} ({self.safe}, seed {self.seed})"


@dataclass(frozen=True)
class GenerationRequest:
    """Arguments of `rulesafe demos generate`, stored in DIR/generate.json.

    `episodes` and `attempts` may be increased later; everything else determines the attempts and
    must stay the same.
    """

    FILE: ClassVar = "generate.json"
    GROWING: ClassVar = ("episodes", "attempts")
    NESTED: ClassVar = {"versions": "version of {}"}  # mappings -> names of their entries

    rules: tuple[str, ...]
    episodes: int  # successes per rule
    attempts: int  # maximum number per rule
    safes: tuple[str, ...]
    split: str
    seed: int
    versions: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of custom files
    locks: Mapping[str, str] = field(default_factory=dict)  # custom rules -> paths of their files
    style: str = "varied"
    by: str = "expert"
    programs: str = ""  # folder of task programs

    def attempt(self, rule: str, number: int) -> Attempt:
        """Return an attempt of a rule: safes in turn, each attempt with a different seed.

        The twenty rules begin with the first safe. Generated rules, of which there are many with
        few attempts each, begin with one that depends on their id.
        """
        first = 0 if rule in RULES else crc32(rule.encode())
        safe = self.safes[(first + number) % len(self.safes)]
        seed = seed_of(self.seed, rule, number)
        lock = self.locks.get(rule, "")
        program = str(program_file(self.programs, rule)) if self.programs else ""
        return Attempt(rule, number, safe, seed, self.split, lock, self.style, self.by, program)

    def command(self) -> str:
        """Return the command line of this request, without the directory."""
        rules = join_rules([self.locks.get(rule, rule) for rule in self.rules])
        return (
            f"rulesafe demos generate --rules {rules} --episodes {self.episodes} "
            f"--attempts {self.attempts} --safes {','.join(self.safes)} --split {self.split} "
            f"--seed {self.seed}{'' if self.style == 'varied' else f' --style {self.style}'}"
            f"{'' if self.by == 'expert' else f' --by {self.by}'}"
            f"{f' --programs {self.programs}' if self.programs else ''}"
        )


class SceneSelection(NamedTuple):
    """Rules, safes and split of a request, whose fields of the same names describe them."""

    rules: tuple[str, ...]
    safes: tuple[str, ...]
    split: str
    files: dict[str, str]
    locks: dict[str, str]


def select_scenes(rules: str, safes: str, split: str, others: bool = False) -> SceneSelection:
    """Return the rules, safes and split of command-line arguments: comma-separated names, or `all`.

    Rules are ids, sets and .json files, as for `expand_rules`; the twenty come first, then the
    others by id. `all` safes are those of the split.

    Args:
        others: whether safes outside of the split are valid. Demonstrations must not use them,
            since they are reserved for tests.

    Raises:
        RuleSafeError: for invalid arguments.
    """
    chosen, locks = _rules(rules)
    used = _safes(split, safes, others)
    split = str(Path(split).absolute()) if _is_file(split) else split
    names = (*filter(_is_file, (split, *used)), *locks.values())
    return SceneSelection(chosen, used, split, {name: sha256(Path(name)) for name in names}, locks)


def make_request(
    rules: str,
    episodes: int,
    attempts: int | None,
    safes: str,
    split: str,
    seed: int,
    style: str = "varied",
    by: str = "expert",
    programs: str = "",
) -> GenerationRequest:
    """Return the request for command-line arguments; rules, safes and split as for `select_scenes`.

    Args:
        attempts: maximum number per rule; None for twice the episodes plus 20.
        by: who demonstrates: expert or programs.
        programs: folder of task programs, RULE.py; empty: written for each rule's shortest plan.

    Raises:
        RuleSafeError: for invalid arguments.
    """
    scenes = select_scenes(rules, safes, split)
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
    if programs and by != "programs":
        raise RuleSafeError("a folder of programs is valid only for demonstrations by programs")
    sources = [program_file(str(Path(programs).absolute()), rule) for rule in scenes.rules]
    if programs and (missing := [path.name for path in sources if not path.is_file()]):
        raise RuleSafeError(f"{programs} has no program {', '.join(missing)}")
    from planner_node.habits import style_config  # loads the planner, so after the other checks

    style_config(style)
    return GenerationRequest(
        rules=scenes.rules,
        episodes=episodes,
        attempts=limit,
        safes=scenes.safes,
        split=scenes.split,
        seed=seed,
        versions=versions(),
        files=scenes.files | {str(path): sha256(path) for path in sources if programs},
        locks=scenes.locks,
        style=style,
        by=by,
        programs=str(Path(programs).absolute()) if programs else "",
    )


def _rules(names: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the ids of the rules, in order, and the files of custom rules."""
    locks: dict[str, str] = {}
    ids: list[str] = []
    for name, rule in expand_rules(names).items():
        found, path = rule.id, _own_lock(name)
        if found in ids:
            raise RuleSafeError(f"two rules have the id {found}: {locks.get(found, found)}, {path}")
        ids.append(found)
        if path:
            locks[found] = path
    order = {rule: number for number, rule in enumerate(RULES)}
    return tuple(sorted(ids, key=lambda rule: (order.get(rule, len(RULES)), rule))), locks


def _own_lock(name: str) -> str:
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


def _safes(split: str, text: str, others: bool) -> tuple[str, ...]:
    """Return the IDs of the built-in safes and the absolute paths of custom safe files."""
    known = load_split(split).safes
    names = known if text == "all" else tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name in SAFES and name not in known and not others:
            raise unknown_name(f"safe of the split {split}", name, ("all", *known))
        load_safe(name)
    return tuple(name if name in SAFES else str(safe_file(name).absolute()) for name in names)


def versions() -> dict[str, str]:
    """Return the versions on which the outcome of an attempt may depend."""
    return {"python": python_version(), **installed(PACKAGES)}


def load_request(directory: Path) -> GenerationRequest:
    """Return the request stored in a directory of demonstrations."""
    content = DemoFolder(directory).request()
    try:
        for key in ("rules", "safes"):
            content[key] = tuple(content[key])
        return GenerationRequest(**content)
    except (TypeError, KeyError) as error:
        path = directory / GenerationRequest.FILE
        raise RuleSafeError(f"{path} is not a request for demonstrations: {error}") from error


def settle(directory: Path, wanted: Any, load: Callable[[Path], Any] = load_request) -> None:
    """Store a request in a directory, which may have an earlier request that it extends.

    Args:
        directory: directory to which the results of the request are written.
        wanted: a GenerationRequest or an EvaluationRequest.
        load: function that reads the earlier request of the directory.

    Raises:
        RuleSafeError: with the differences, if fields outside of GROWING differ, or if one of those
            in GROWING is smaller than before.
    """
    path = directory / wanted.FILE
    if path.exists():
        present = load(directory)
        same = replace(present, **{name: getattr(wanted, name) for name in wanted.GROWING})
        there, here = _settings(same), _settings(wanted)
        differences = [
            f"{key}: {there.get(key, 'none')} in the directory, {here.get(key, 'none')} requested"
            for key in there | here
            if there.get(key) != here.get(key)
        ]
        for name in wanted.GROWING:
            before, now = getattr(present, name), getattr(wanted, name)
            if now < before:
                differences.append(
                    f"{name}: {before} in the directory, {now} requested, but it may only grow"
                )
        if differences:
            raise RuleSafeError(
                f"{directory} was made for another request; take another --out. "
                + "; ".join(differences)
            )
        if present == wanted:
            return
    elif any(not file.name.startswith(".") for file in directory.glob("*")):
        raise RuleSafeError(
            f"{directory} is not empty and has no {path.name}; use an empty directory"
        )
    write_json(path, asdict(wanted))


def _settings(request: Any) -> dict[str, str]:
    """Return the settings of a request as text, one entry for each setting that may differ."""
    settings = asdict(request)
    del settings["locks"]  # covered by the rules and the SHA-256 of their files
    found: dict[str, str] = {}
    for name, text in request.NESTED.items():
        found |= {text.format(key): str(value) for key, value in settings.pop(name).items()}
    for key, value in settings.items():
        found[key] = ",".join(value) if isinstance(value, tuple) else str(value)
    return found
