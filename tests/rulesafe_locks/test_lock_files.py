"""Lock files, sets of lock files, and lookup of rules by name."""

import json
import os

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.automata import automaton_of, possible, smallest
from rulesafe_locks.lock_files import (
    KEYS,
    VARIABLE,
    Bound,
    LockFile,
    dump_lock,
    parse_lock,
    read_lock,
)
from rulesafe_locks.lock_sets import expand_rules, join_rules, rule_sets
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import RULES, load_rule


def lock_of(rule_id, name, split=""):
    rule = load_rule(rule_id)
    return LockFile(
        name,
        f"Straße „{rule.description}“",
        smallest(automaton_of(rule)),
        program="def check_lock(self):\n    pass\n",
        bound=Bound(30, 12),
        origin={"by": "hand"},
        facts=prove(rule).facts,
        split=split,
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A set of two locks, which RULESAFE_LOCKS contains."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, rule_id, split in (("one", "rule_011", "train"), ("two", "rule_020", "test")):
        (folder / f"{name}.json").write_text(dump_lock(lock_of(rule_id, name, split)), "utf-8")
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder


def test_written_and_read_again():
    lock = lock_of("rule_018", "a_lock", "train")
    assert parse_lock(dump_lock(lock)) == lock
    assert len(dump_lock(lock).splitlines()) < 100


def test_ids_paths_and_sets(folder):
    two, other = (possible(automaton_of(load_rule(name))) for name in ("two", "rule_020"))
    assert smallest(two) == smallest(other)
    assert load_rule("one") is load_rule("one")
    assert load_rule(str(folder / "one.json")).id == "one"
    sets = rule_sets()
    assert sets["mine"] == ("one", "two")
    assert sets["mine_test"] == ("two",)
    assert sets["twenty"] == RULES
    path = str(folder / "two.json")
    found = expand_rules(f"rule_003, mine_test,one,{path},two")
    assert list(found) == ["rule_003", "two", "one", path]
    assert found["one"] is load_rule("one") and found[path].id == "two"
    assert tuple(expand_rules("all")) == RULES


def test_a_set_is_called_by_its_name(folder):
    assert join_rules(["one", "two"]) == "mine"
    assert join_rules(RULES) == "twenty"
    assert join_rules(["one", "rule_001"]) == "one,rule_001"
    assert list(expand_rules(join_rules(["two"]))) == ["two"]


def test_a_set_has_one_name(folder, tmp_path, monkeypatch):
    """The name of a generated set in OUT/locks is that of OUT."""
    twin = tmp_path / "other" / "mine"
    made = tmp_path / "made" / "locks"
    for place in (twin, made):
        place.mkdir(parents=True)
    (made / "three.json").write_text(dump_lock(lock_of("rule_001", "three")), "utf-8")
    monkeypatch.setenv(VARIABLE, f"{folder}{os.pathsep}{made}")
    assert list(expand_rules("made,mine_test")) == ["three", "two"]
    monkeypatch.setenv(VARIABLE, f"{folder}{os.pathsep}{twin}")
    with pytest.raises(RuleSafeError, match=r"two sets have the name mine: .*other"):
        rule_sets()
    for name in ("twenty", "all", "rule_004"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(VARIABLE, str(tmp_path / name))
        with pytest.raises(
            RuleSafeError, match=f"the set name {name} is reserved; rename the folder"
        ):
            rule_sets()


def test_a_set_of_an_installed_package(folder, monkeypatch, installed):
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(RuleSafeError, match="unknown rule 'two'"):
        load_rule("two")
    installed(
        "vault_rules",
        f"LOCKS = {str(folder)!r}\nNONE = None\n",
        "[rulesafe.locks]\nvault = vault_rules:LOCKS\n",
    )
    assert load_rule("two").id == "two"
    assert list(expand_rules("vault,vault_test")) == ["one", "two"]
    assert [rule.id for rule in expand_rules("vault_rules:LOCKS").values()] == ["one", "two"]
    with pytest.raises(RuleSafeError, match=r"'vault_rules:NONE' is None; valid: the path of a f"):
        expand_rules("vault_rules:NONE")


def test_a_changed_file_is_read_again(folder):
    before = load_rule("one")
    path = folder / "one.json"
    path.write_text(dump_lock(lock_of("rule_001", "one")), "utf-8")
    os.utime(path, ns=(1, 1))
    assert prove(load_rule("one")).steps == 3 != prove(before).steps


@pytest.mark.parametrize(
    "names", ["", " , ", "rule_021", "mine_hard", "One", "../mine/one", "rule_001,x"]
)
def test_unknown_names(folder, names):
    with pytest.raises(RuleSafeError, match="rule_001"):
        expand_rules(names)


def test_unknown_rules_and_folders(folder, monkeypatch):
    with pytest.raises(RuleSafeError, match=r"unknown rule 'three'.*rule_020.*json"):
        load_rule("three")
    with pytest.raises(RuleSafeError, match=r"the lock file .*nowhere\.json does not exist"):
        load_rule("nowhere.json")
    monkeypatch.setenv(VARIABLE, str(folder / "sub"))
    with pytest.raises(RuleSafeError, match=r"RULESAFE_LOCKS: the folder .*sub does not exist"):
        load_rule("one")


def test_two_locks_of_one_id_are_refused(folder, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    (other / "two.json").write_text(dump_lock(lock_of("rule_001", "two")), "utf-8")
    monkeypatch.setenv(VARIABLE, f"{folder}{os.pathsep}{other}")
    with pytest.raises(RuleSafeError, match=r"the lock two is in two sets: .*mine.*other"):
        load_rule("two")
    assert load_rule("one").id == "one"


def test_names_must_agree(folder):
    (folder / "one.json").rename(folder / "three.json")
    with pytest.raises(
        RuleSafeError, match=r"three\.json: the file name must be the id of the lock, one\.json"
    ):
        load_rule("three")


def test_no_file_takes_the_place_of_the_twenty(folder):
    path = folder / "rule_001.json"
    path.write_text(dump_lock(lock_of("rule_020", "rule_001")), "utf-8")
    assert prove(load_rule("rule_001")).steps == 3
    with pytest.raises(RuleSafeError, match="the id rule_001 is one of a built-in rule; rename it"):
        load_rule(str(path))


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_needed(key):
    data = json.loads(dump_lock(lock_of("rule_001", "one")))
    del data[key]
    with pytest.raises(RuleSafeError, match=key):
        parse_lock(json.dumps(data))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "One"}, "id is 'One'; valid: lower-case"),
        ({"id": 3}, "id is 3"),
        ({"description": None}, "description is None; valid: a line of text"),
        ({"bound": 0}, "bound is 0; valid: null, or an object with events and states"),
        (
            {"bound": {"events": True, "states": 3}},
            "bound is .*; valid: null, or an object with events",
        ),
        ({"bound": {"events": 3}}, "bound is .*; valid: null, or an object with events"),
        ({"description": "a\x1b[31mb"}, "description is .*; valid: text without control"),
        ({"description": "two\nlines"}, "description is .*; valid: text without control"),
        ({"origin": {"by": ["\ud800"]}}, "origin is .*; valid: text without control"),
        ({"program": ["def\x07"]}, "program is .*; valid: text without control"),
        ({"facts": []}, r"facts is \[\]; valid: an object"),
        ({"program": "def"}, "program is 'def'; valid: a list of lines"),
        ({"automaton": [[0]]}, "state 0"),
        ({"more": 1}, "missing or unknown keys: more; required: format"),
        ({"short_instruction": "  "}, "a text without spaces around it"),
        ({"short_instruction": None}, "short_instruction is None; valid: a line of text"),
        ({"short_instruction": "two\nlines"}, "short_instruction is .*; valid: a line of text"),
        (
            {"short_instruction": "move knob, " * 14},
            "short_instruction has an estimated 43 tokens: 'move knob, .*; valid: at most 40",
        ),
        ({"format": "other"}, 'not a lock file; .*"rulesafe-lock-1"'),
    ],
)
def test_wrong_values_are_refused(change, message, tmp_path):
    data = json.loads(dump_lock(lock_of("rule_001", "one"))) | change
    path = tmp_path / "one.json"
    path.write_text(json.dumps(data))
    with pytest.raises(RuleSafeError, match=message) as error:
        read_lock(path)
    assert "one.json" in str(error.value)


@pytest.mark.parametrize("text", ["", "[1]", "{", "nul", "[" * 100_000])
def test_invalid_json_is_rejected(text):
    with pytest.raises(RuleSafeError, match=r"not valid JSON|not a lock file"):
        parse_lock(text)


def test_binary_and_large_files_are_refused(tmp_path):
    path = tmp_path / "one.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RuleSafeError, match="is not UTF-8 text"):
        read_lock(path)
    path.write_bytes(b" " * 4_000_001)
    with pytest.raises(RuleSafeError, match="larger than the limit of 4000000 bytes"):
        read_lock(path)
    with pytest.raises(RuleSafeError, match="is a folder"):
        read_lock(tmp_path)
