"""Named sets of rules: the twenty, and the sets of locks that `lock_files.lock_folders` finds.

Example::

    expand_rules("rule_001,sampled_test")  # the rules by id, without duplicates, in this order
"""

from collections.abc import Sequence
from pathlib import Path

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.plugins import is_reference
from rulesafe_locks.instructions import Length, check_length
from rulesafe_locks.lock_files import lock_folders, locks_in, set_folder
from rulesafe_locks.locks import Rule
from rulesafe_locks.rules import RULES, load_rule

TWENTY, ALL = "twenty", "all"


def rule_sets() -> dict[str, tuple[str, ...]]:
    """Return the ids of the rules in each set: "twenty", each of `lock_folders`, and each of their
    splits, such as "sampled_test".

    Raises:
        RuleSafeError: two sets have the same name, or a set has the name of a rule.
    """
    sets = {TWENTY: RULES}
    folders: dict[str, Path] = {}
    for folder, set_name in lock_folders().items():
        locks = locks_in(folder)
        parts = {set_name: tuple(lock.id for lock in locks)}
        for split in sorted({lock.split for lock in locks} - {""}):
            parts[f"{set_name}_{split}"] = tuple(lock.id for lock in locks if lock.split == split)
        for name in parts:
            if name in (*RULES, ALL, TWENTY):
                raise RuleSafeError(f"the set name {name} is reserved; rename the folder {folder}")
            if name in folders:
                raise RuleSafeError(
                    f"two sets have the name {name}: {folders[name]} and {folder}; rename one"
                )
            folders[name] = folder
        sets |= parts
    return sets


def join_rules(rules: Sequence[str]) -> str:
    """Return a list for `expand_rules`: the name of the set with exactly these rules, or ids."""
    for name, ids in rule_sets().items():
        if tuple(rules) == ids:
            return name
    return ",".join(rules)


def expand_rules(names: str) -> dict[str, Rule]:
    """Return the rules of a comma-separated list by their ids or paths, without duplicates.

    The list contains ids, paths of .json files, names of sets, `module:attribute` of a set, and
    "all" for the twenty.

    Raises:
        RuleSafeError: a name is none of these, or the list is empty.
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
        raise RuleSafeError(
            "the list of rules is empty; valid: ids and sets, such as rule_001,sampled_test"
        )
    return {name: load_rule(name) for name in chosen}


def instruction_for(description: str, length: Length) -> str:
    """Return the instruction of the rule with this description, long or short.

    The text is returned unchanged if it belongs to none of the twenty rules and of the sets of
    `lock_folders`, such as a custom instruction, or if the rule has no short instruction.

    Raises:
        RuleSafeError: `length` is neither "short" nor "long", or a set cannot be read.
    """
    check_length(length)
    if length == "long":
        return description
    for rule in map(load_rule, RULES):
        if rule.description == description:
            return rule.instruction(length)
    for folder in lock_folders():
        for lock in locks_in(folder):
            if lock.description == description:
                return lock.rule.instruction(length)
    return description
