"""Sets of rules by name: the twenty, those shipped, of installed packages and of RULESAFE_LOCKS.

Example::

    expand_rules("rule_001,sampled_test")  # the rules by their ids, each once, in this order
"""

from collections.abc import Sequence
from pathlib import Path

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.plugins import is_reference
from rulesafe_locks.lock_files import lock_folders, locks_in, set_folder
from rulesafe_locks.locks import Rule
from rulesafe_locks.rules import RULES, load_rule

TWENTY, ALL = "twenty", "all"


def rule_sets() -> dict[str, tuple[str, ...]]:
    """Names of sets and the ids in each: "twenty", each of `lock_folders`, and its parts, such as
    "sampled_test".

    RuleSafeError where two sets have one name, or a set has that of a rule.
    """
    sets = {TWENTY: RULES}
    places: dict[str, Path] = {}
    for folder, called in lock_folders().items():
        locks = locks_in(folder)
        parts = {called: tuple(lock.id for lock in locks)}
        for split in sorted({lock.split for lock in locks} - {""}):
            parts[f"{called}_{split}"] = tuple(lock.id for lock in locks if lock.split == split)
        for name in parts:
            if name in (*RULES, ALL, TWENTY):
                raise RuleSafeError(f"a set cannot be called {name}: rename the folder {folder}")
            if name in places:
                raise RuleSafeError(f"two sets are called {name}: {places[name]} and {folder}")
            places[name] = folder
        sets |= parts
    return sets


def join_rules(rules: Sequence[str]) -> str:
    """The list that `expand_rules` takes apart: the name of the set that has just these rules."""
    for name, ids in rule_sets().items():
        if tuple(rules) == ids:
            return name
    return ",".join(rules)


def expand_rules(names: str) -> dict[str, Rule]:
    """Return the rules of a list separated by commas, each once, by their ids or paths.

    The list has ids, paths of .json files, names of sets, `module:attribute` of a set, and "all"
    for the twenty. RuleSafeError for a name that is none of these.
    """
    sets: dict[str, tuple[str, ...]] = {}
    chosen: dict[str, None] = {}
    for name in filter(None, (part.strip() for part in names.split(","))):
        if name == ALL:
            name = TWENTY
        if name in RULES or name.endswith(".json"):
            chosen[name] = None
            continue
        if is_reference(name):
            chosen.update(dict.fromkeys(map(str, sorted(set_folder(name).glob("*.json")))))
            continue
        sets = sets or rule_sets()
        if name in sets:
            chosen.update(dict.fromkeys(sets[name]))
        elif any(name in ids for ids in sets.values()):
            chosen[name] = None
        else:
            raise unknown_name("rule or set", name, (*RULES, *sets, ALL, "paths of .json files"))
    if not chosen:
        raise RuleSafeError("no rule is named; valid: ids and sets, such as rule_001,sampled_test")
    return {name: load_rule(name) for name in chosen}
