"""`rulesafe rules`: lists, verdicts on programs and lock files, tables in the documentation."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from rulesafe_cli.cli import main
from rulesafe_locks.automata import automaton_of, from_json, possible, smallest
from rulesafe_locks.lock_files import LockFile, dump_lock, read_lock
from rulesafe_locks.plans import opens_door
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import RULES, load_rule

DOCS = (Path(__file__).parents[3] / "docs/rules.md").read_text(encoding="utf-8")
PROGRAM = """# Open the knob twice, closing it in between, and leave the handle open.
def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")
    if not hasattr(self, "state"):
        self.state = {"knob": knob, "openings": 0}
    state = self.state
    if knob and not state["knob"]:
        state["openings"] = min(state["openings"] + 1, 2)
    state["knob"] = knob
    shut = state["openings"] < 2 or not handle
    self.set_lock(obj_name="safe", link_name="door", lock=shut)
"""
FREE = """
def check_lock(self):
    self.set_lock(obj_name="safe", link_name="door", lock=False)
"""
SHUT = FREE.replace("False", "True")
BOTH = """
def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")
    self.set_lock(obj_name="safe", link_name="door", lock=not (knob and handle))
"""


LONG = "knob, " * 30


@pytest.fixture
def rules(capsys):
    """Run `rulesafe rules`; return the exit code and the output with single spaces."""

    def run(*arguments):
        code = main(["rules", *map(str, arguments)])
        return code, " ".join(capsys.readouterr().out.split())

    return run


@pytest.fixture
def listed(capsys):
    """Return the entries of `rulesafe rules list --format json`."""

    def run(*arguments):
        assert main(["rules", "list", "--format", "json", *arguments]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def lock():
    """A lock file of one of the twenty rules, with facts but without a program."""
    rule = load_rule("rule_004")
    facts = prove(rule).facts
    return LockFile("mine", "Handle first.", smallest(automaton_of(rule)), facts=facts)


@pytest.mark.parametrize("command", re.findall(r"<!-- rulesafe (.*?) -->", DOCS))
def test_documentation_has_the_generated_tables(command, capsys):
    assert main(command.split()) == 0
    assert f"<!-- rulesafe {command} -->\n{capsys.readouterr().out}<!-- end -->" in DOCS


def test_documentation_has_all_tables():
    assert len(re.findall(r"<!-- rulesafe .*? -->", DOCS)) == 3


def test_listed_properties_equal_the_proofs(listed):
    for entry in listed():
        proof = prove(load_rule(entry["id"]))
        assert {key: entry[key] for key in proof.facts} == proof.facts


@pytest.mark.parametrize("key", ["steps", "states", "bits"])
def test_lists_are_sorted_and_filtered(listed, key):
    found = [entry[key] for entry in listed("--sort", key)]
    assert found == sorted(found) and len(found) == len(RULES)
    low, high = found[len(found) // 3], found[-3]
    cut = listed("--sort", key, f"--min-{key}", str(low), f"--max-{key}", str(high))
    assert [entry[key] for entry in cut] == [value for value in found if low <= value <= high]
    assert 0 < len(cut) < len(RULES)


def test_bits_depend_on_the_observed_phases(listed):
    hidden = listed("--sort", "bits", "--phases", "hidden", "--min-bits", "3")
    assert {entry["steps"] for entry in hidden} == {8}
    assert not listed("--sort", "bits", "--phases", "visible", "--min-bits", "3")


def test_memory_filter(listed):
    ids = {kind: {e["id"] for e in listed("--memory", kind)} for kind in ("any", "none", "needed")}
    assert ids["none"] | ids["needed"] == ids["any"] == set(RULES)
    assert not ids["none"] & ids["needed"]
    assert "rule_001" in ids["none"] and "rule_020" in ids["needed"]


def test_table_contains_the_sort_key(rules):
    assert "| bits |" in rules("list", "--format", "markdown", "--sort", "bits")[1]
    assert "bits" not in rules("list", "--format", "markdown", "--sort", "id")[1].split("|---|")[0]
    assert rules("list", "--max-steps", 1, "--format", "markdown")[1].count("|---") == 4


def test_lock_file_and_custom_set_are_listed(listed, lock, tmp_path, monkeypatch):
    folder = tmp_path / "my_set"
    folder.mkdir()
    path = folder / "mine.json"
    path.write_text(dump_lock(lock), encoding="utf-8")
    assert [entry["id"] for entry in listed("--rules", f"rule_002,{path}")] == ["mine", "rule_002"]
    monkeypatch.setenv("RULESAFE_LOCKS", str(folder))
    (entry,) = listed("--rules", "my_set")
    assert entry["plan"] == list(prove(load_rule("rule_004")).plan)


@pytest.mark.parametrize(
    "facts",
    [{}, {"steps": 9}, {"steps": "many"}, {"plan": ["dig"]}, {"bits": None}, {"extra": 1}],
)
def test_file_without_valid_facts_is_proved(listed, lock, tmp_path, facts):
    path = tmp_path / "mine.json"
    wrong = {**lock.facts, **facts} if facts else {}
    path.write_text(dump_lock(replace(lock, facts=wrong)), encoding="utf-8")
    (entry,) = listed("--rules", str(path))
    expected = {**lock.facts, **facts} if facts == {"steps": 9} else lock.facts
    assert {key: entry[key] for key in lock.facts} == expected


# Verdicts -------------------------------------------------------------------------------------


def test_the_documented_program_becomes_a_rule(rules, tmp_path):
    source, out = tmp_path / "my_lock.py", tmp_path / "my_lock.json"
    source.write_text(PROGRAM, encoding="utf-8")
    code, text = rules("verify", source, "--plan", "knob+,knob-,knob+,handle+,door+")
    assert code == 0 and "compiled exact" in text and "same as no known rule" in text
    code, text = rules("verify", source, "--out", out, "--description", "Open the knob twice.")
    assert code == 0 and f"wrote {out}" in text.replace("\n", "")
    rule = load_rule(str(out))
    assert (rule.id, rule.description) == ("my_lock", "Open the knob twice.")
    assert opens_door(rule, ["knob+", "knob-", "knob+", "handle+", "door+"])
    assert not opens_door(rule, ["knob+", "handle+", "door+"])
    assert rules("verify", out)[0] == 0
    assert main(["rules", "show", str(out), "--format", "program"]) == 0


def test_short_instructions_are_listed_shown_and_written(rules, listed, tmp_path):
    code, text = rules("list", "--columns", "short", "--rules", "rule_002,sampled_143")
    assert code == 0 and "rule_002 │ 10 │ The door is locked unless the knob is open." in text
    assert "sampled_143 │ 146 │ none" in text
    assert listed()[1]["short_instruction"] == load_rule("rule_002").short_instruction
    assert "short The door is locked unless the knob is open." in rules("show", "rule_002")[1]
    assert "short none" in rules("show", "sampled_143")[1]
    source, out = tmp_path / "my_lock.py", tmp_path / "my_lock.json"
    source.write_text(PROGRAM, encoding="utf-8")
    command = ["verify", source, "--out", out, "--description", "Open the knob twice."]
    assert rules(*command, "--short-instruction", "Knob twice.")[0] == 0
    assert load_rule(str(out)).short_instruction == "Knob twice."


def test_program_is_shown_unchanged(tmp_path, capsys):
    source, out = tmp_path / "my_lock.py", tmp_path / "my_lock.json"
    source.write_text(PROGRAM, encoding="utf-8")
    assert main(["rules", "verify", str(source), "--out", str(out), "--description", "Twice."]) == 0
    capsys.readouterr()
    assert main(["rules", "show", str(out), "--format", "program"]) == 0
    assert capsys.readouterr().out == PROGRAM
    assert main(["rules", "show", "rule_001", "--format", "program"]) == 2


@pytest.mark.parametrize(
    ("source", "options", "reason"),
    [
        (FREE, (), "refused trivial: the door is free at the start"),
        (SHUT, (), "refused shut: no sequence of knob and handle moves ever frees the door"),
        ("import os\n" + BOTH, (), "refused forbidden: line 1"),
        ("def check_lock(self) return", (), "refused syntax: line 1"),
        (BOTH, ("--plan", "knob+,door+"), "refused plan: the claimed plan fails: the lock: step 2"),
        (PROGRAM, ("--max-steps", "4"), "refused long: the shortest plan has 5 steps"),
        (b"\xff", (), "is not UTF-8 text"),
    ],
)
def test_invalid_programs_are_refused_with_the_reason(rules, tmp_path, source, options, reason):
    path = tmp_path / "mine.py"
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    code, text = rules("verify", path, *options)
    assert code == 1 and reason in text


def test_folder_has_one_line_per_file(rules, lock, tmp_path):
    (tmp_path / "a.py").write_text(BOTH, encoding="utf-8")
    (tmp_path / "b.py").write_text(SHUT, encoding="utf-8")
    (tmp_path / "c.json").write_text(dump_lock(lock), encoding="utf-8")
    (tmp_path / "d.json").write_text("{}", encoding="utf-8")
    (tmp_path / "notes.txt").touch()
    code, text = rules("verify", tmp_path)
    assert code == 1 and text.endswith("2 valid, 2 refused")
    for part in ("a.py: valid: 3 steps", "b.py: refused, shut", "; same as rule_004", "d.json: "):
        assert part in text


def test_equivalent_files_are_reported(rules, tmp_path):
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(PROGRAM, encoding="utf-8")
    code, text = rules("verify", tmp_path)
    assert code == 0 and text.count("; same as") == 1
    assert f"; same as {tmp_path / 'a.py'}" in text


def test_wrong_lock_files_are_refused(rules, lock, tmp_path):
    path = tmp_path / "mine.json"
    for wrong, reason in (
        (
            replace(lock, facts={**lock.facts, "steps": 9}),
            "facts: steps is 9 in the file, 3 in the proof",
        ),
        (replace(lock, facts={}), "facts: plan is missing in the file"),
        (
            replace(lock, program=BOTH),
            "automaton: the program and the automaton differ after: no move",
        ),
        (replace(lock, program=SHUT), "automaton: "),
        (replace(lock, program="import os"), "forbidden: line 1"),
    ):
        path.write_text(dump_lock(wrong), encoding="utf-8")
        code, text = rules("verify", path)
        assert code == 1 and reason in text


def test_claimed_bound_is_checked(rules, tmp_path):
    counter = BOTH.replace(
        "    self.set_lock",
        "    if not hasattr(self, 'calls'):\n"
        "        self.calls, self.last = 0, knob\n"
        "    self.calls += knob != self.last\n"
        "    self.last = knob\n"
        "    self.set_lock",
    )
    source, out = tmp_path / "counter.py", tmp_path / "counter.json"
    source.write_text(counter, encoding="utf-8")
    code, text = rules("verify", source, "--out", out, "--description", "Open both.")
    assert code == 0 and "exact for up to" in text and "same as rule_001" in text
    found = read_lock(out)
    expected = automaton_of(load_rule("rule_001"))
    assert smallest(possible(found.automaton)) == smallest(possible(expected))
    assert rules("verify", out)[0] == 0
    out.write_text(dump_lock(replace(found, bound=None)), encoding="utf-8")
    code, text = rules("verify", out)
    assert code == 1 and "the file claims exact; the compiled automaton is exact for up to" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.py"], "nowhere.py cannot be verified"),
        (
            ["mine.py", "mine.py", "both.py", "--plan", "door+"],
            "--plan needs exactly one file, not 2",
        ),
        (["rule_001", "--out", "x.json"], "--out needs exactly one .py file"),
        (["rule_021"], "ids of rules"),
        (["mine.py", "--out", "x.json"], "--description"),
        (
            ["mine.py", "--out", "rule_001.json", "--description", "x"],
            "not one of the twenty rules",
        ),
        (["mine.py", "--out", "My Lock.json", "--description", "x"], "lower-case letters"),
        (
            ["mine.py", "--out", "x.json", "--description", "x", "--short-instruction", LONG],
            "short_instruction has an estimated 61 tokens",
        ),
    ],
)
def test_invalid_arguments_are_refused_first(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    for name in ("mine.py", "both.py"):
        Path(name).write_text(BOTH, encoding="utf-8")
    assert main(["rules", "verify", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and message in err
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.parametrize(
    ("rule", "plan", "code", "message"),
    [
        ("rule_020", "handle+, knob+,handle-,knob-,handle+,knob+,handle-,door+", 0, "8 steps"),
        ("rule_017", "knob+,handle+,door+", 1, "step 3, 'door+', is impossible"),
        ("sampled_031", "door+", 1, "step 1"),
    ],
)
def test_plans_of_known_rules_are_checked(capsys, rule, plan, code, message):
    assert main(["rules", "verify", rule, "--plan", plan]) == code
    assert message in " ".join(capsys.readouterr().out.split())


def test_an_existing_lock_is_not_overwritten(capsys, tmp_path):
    program, out = tmp_path / "both.py", tmp_path / "both.json"
    program.write_text(BOTH, encoding="utf-8")
    out.write_text("precious", encoding="utf-8")
    words = ["rules", "verify", str(program), "--out", str(out), "--description", "Both."]
    assert main(words) == 2
    assert "already exists" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "precious"


def test_unwritable_path_is_a_one_line_error(capsys, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["rules", "show", "rule_001", "--out", str(tmp_path / "file" / "x.svg")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("rulesafe: ") and len(err.splitlines()) == 1


def test_very_long_plan(capsys, tmp_path):
    """1200 knob moves, which exceed the recursion limit."""
    rows = [[n % 2, 0, int(n == 1200), 0, 0, min(n + 1, 1200), 1201 + n % 2] for n in range(1201)]
    rows[1200][5] = 1199
    rows += [[0, 1, 0, 0, 0, 1202, 0], [1, 1, 0, 0, 0, 1201, 1]]
    lock = LockFile("chain", "Turn the knob 1200 times.", from_json(rows))
    path = tmp_path / "chain.json"
    path.write_text(dump_lock(lock), encoding="utf-8")
    assert main(["rules", "verify", str(path)]) == 1
    assert "1201 steps; valid: at most 12" in " ".join(capsys.readouterr().out.split())
    assert main(["rules", "solve", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1201 steps"
