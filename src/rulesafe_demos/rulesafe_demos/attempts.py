"""What is asked for, and the attempts it takes: which rule, safe and seed the k-th one has."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from platform import python_version
from typing import Any, ClassVar
from zlib import crc32

from planner_node.habits import styled
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
"""Seeds below this one are kept for evaluations: no demonstration has them."""

SEEDS_PER_RULE = 50_000
"""Seeds that one rule has for its attempts, so that no two of them share one."""

MAX_BASE = 4000
"""The largest base of seeds."""

PACKAGES = ("rulesafe", "numpy", "scipy", "sapien", "pin", "coal", "ompl", "toppra", "daqp")
"""The distributions whose versions an attempt's outcome may depend on."""


def seed_of(base: int, rule: str, number: int) -> int:
    """The seed of a rule's attempt `number`: never one of EVALUATION_SEEDS, and within 32 bits for
    a base up to MAX_BASE.

    Under the twenty rules each attempt, rule and base has another one. Any other rule shares none
    with them; its block of seeds is one of some 5900, by its id and the base, so that two such
    rules may have the same: then their safes stand alike, under different locks.
    """
    if rule in RULES:
        block = base * len(RULES) + RULES.index(rule)
    else:
        taken = (MAX_BASE + 1) * len(RULES)
        left = (2**32 - EVALUATION_SEEDS) // SEEDS_PER_RULE - taken
        block = taken + crc32(f"{base} {rule}".encode()) % left
    return EVALUATION_SEEDS + block * SEEDS_PER_RULE + number


@dataclass(frozen=True)
class Attempt:
    """One try of the expert."""

    rule: str
    number: int  # of the rule's attempts, from 0
    safe: str
    seed: int
    split: str
    lock: str = ""  # the user's own file of the rule; empty: it is one of ours
    style: str = "varied"  # the expert's, one of planner_node.habits.STYLES

    @property
    def source(self) -> str:
        """What loads the rule: its file's path or its id."""
        return self.lock or self.rule

    def __str__(self) -> str:
        return f"{self.rule} attempt {self.number} ({self.safe}, seed {self.seed})"


@dataclass(frozen=True)
class GenerationRequest:
    """What `rulesafe demos generate` was asked for; DIR/generate.json keeps it.

    `episodes` and `attempts` may grow later; everything else decides what an attempt is and stays.
    """

    FILE: ClassVar = "generate.json"
    GROWING: ClassVar = ("episodes", "attempts")
    NESTED: ClassVar = {"versions": "version of {}"}  # mappings -> names of their entries

    rules: tuple[str, ...]
    episodes: int  # successes wanted for each rule
    attempts: int  # made for a rule at most
    safes: tuple[str, ...]
    split: str
    seed: int
    versions: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of the user's own files
    locks: Mapping[str, str] = field(default_factory=dict)  # rules of such files -> their paths
    style: str = "varied"

    def attempt(self, rule: str, number: int) -> Attempt:
        """A rule's attempt: safes in turn, a seed of its own.

        The twenty begin with the first safe. Generated rules, of which there are many with few
        attempts each, begin with one that depends on their id.
        """
        first = 0 if rule in RULES else crc32(rule.encode())
        safe = self.safes[(first + number) % len(self.safes)]
        seed = seed_of(self.seed, rule, number)
        lock = self.locks.get(rule, "")
        return Attempt(rule, number, safe, seed, self.split, lock, self.style)

    def command(self) -> str:
        """The command line that asks for this, but for the directory."""
        rules = join_rules([self.locks.get(rule, rule) for rule in self.rules])
        return (
            f"rulesafe demos generate --rules {rules} --episodes {self.episodes} "
            f"--attempts {self.attempts} --safes {','.join(self.safes)} --split {self.split} "
            f"--seed {self.seed}{'' if self.style == 'varied' else f' --style {self.style}'}"
        )


def make_request(
    rules: str,
    episodes: int,
    attempts: int | None,
    safes: str,
    split: str,
    seed: int,
    style: str = "varied",
    others: bool = False,
) -> GenerationRequest:
    """The request that command line words stand for: names joined by commas, or `all`.

    Rules are ids, sets and .json files, as `expand_rules` reads them; the twenty come first, then
    the others by id. `all` safes are those of the split. Without `attempts`, a rule has twice as
    many as episodes, and 20. With `others`, safes that the split leaves out may be named: to train
    on them would spoil them for tests, to test on them spoils nothing. Errors: RuleSafeError for
    what is not valid.
    """
    chosen, locks = _rules(rules)
    used = _safes(split, safes, others)
    split = str(Path(split).absolute()) if _is_file(split) else split
    styled(style)
    limit = 2 * episodes + 20 if attempts is None else attempts
    if episodes < 1 or limit < episodes:
        raise RuleSafeError(
            f"at least one episode and no fewer attempts than episodes, not {episodes} and {limit}"
        )
    if not 0 <= seed <= MAX_BASE or limit > SEEDS_PER_RULE:
        raise RuleSafeError(
            f"a base seed lies in 0..{MAX_BASE} and a rule has up to {SEEDS_PER_RULE} attempts; "
            f"got {seed} and {limit}"
        )
    return GenerationRequest(
        rules=chosen,
        episodes=episodes,
        attempts=limit,
        safes=used,
        split=split,
        seed=seed,
        versions=versions(),
        files={
            name: sha256(Path(name))
            for name in (*filter(_is_file, (split, *used)), *locks.values())
        },
        locks=locks,
        style=style,
    )


def _rules(names: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """The ids that are meant, in order, and of those that are not ours the files."""
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
    """The path of a rule's file where it is not ours: named itself, or in a further set."""
    if name in RULES:
        return ""
    if name.endswith(".json"):
        return str(Path(name).absolute())
    paths = (folder / f"{name}.json" for folder in lock_folders() if folder.parent != LOCKS)
    return next((str(path.absolute()) for path in paths if path.is_file()), "")


def _is_file(name: str) -> bool:
    """Whether a name is a user's own safe or split, not one of ours."""
    return name.endswith((".yaml", ".yml"))


def _safes(split: str, text: str, others: bool) -> tuple[str, ...]:
    """The safes that are meant: of the split, others of ours, or those of users and packages, as
    the absolute paths of their files."""
    known = load_split(split).safes
    names = known if text == "all" else tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name in SAFES and name not in known and not others:
            raise unknown_name(f"safe of the split {split}", name, ("all", *known))
        load_safe(name)
    return tuple(name if name in SAFES else str(safe_file(name).absolute()) for name in names)


def versions() -> dict[str, str]:
    """Versions of what an attempt's outcome may depend on."""
    return {"python": python_version(), **installed(PACKAGES)}


def load_request(directory: Path) -> GenerationRequest:
    """The request that a directory of demonstrations was made for."""
    content = DemoFolder(directory).request()
    for key in ("rules", "safes"):
        content[key] = tuple(content[key])
    return GenerationRequest(**content)


def settle(directory: Path, wanted: Any, load: Callable[[Path], Any] = load_request) -> None:
    """Write a request into a directory, which may hold an earlier one that it extends.

    Args:
        directory: what is made for the request.
        wanted: a Request, of demonstrations or of an evaluation.
        load: reads the earlier request of the directory.

    Raises:
        RuleSafeError: naming what differs, where anything but the fields in GROWING does, or where
            one of these is smaller than before.
    """
    path = directory / wanted.FILE
    if path.exists():
        present = load(directory)
        same = replace(present, **{name: getattr(wanted, name) for name in wanted.GROWING})
        there, here = _settings(same), _settings(wanted)
        differences = [
            f"{key}: {there.get(key, 'none')} there, {here.get(key, 'none')} now"
            for key in there | here
            if there.get(key) != here.get(key)
        ]
        for name in wanted.GROWING:
            before, now = getattr(present, name), getattr(wanted, name)
            if now < before:
                differences.append(f"{name}: {before} there, {now} now, but it may only grow")
        if differences:
            raise RuleSafeError(
                f"{directory} was made for another request; take another --out. "
                + "; ".join(differences)
            )
        if present == wanted:
            return
    elif any(not file.name.startswith(".") for file in directory.glob("*")):
        raise RuleSafeError(f"{directory} is not empty and holds no {path.name}")
    write_json(path, asdict(wanted))


def _settings(request: Any) -> dict[str, str]:
    """A request as words, one for each thing that may differ."""
    settings = asdict(request)
    del settings["locks"]  # which rules, and the SHA-256 of their files, say as much
    found: dict[str, str] = {}
    for name, text in request.NESTED.items():
        found |= {text.format(key): str(value) for key, value in settings.pop(name).items()}
    for key, value in settings.items():
        found[key] = ",".join(value) if isinstance(value, tuple) else str(value)
    return found
