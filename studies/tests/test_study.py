"""studies/study.sh: its commands are valid, and resumed runs at their smallest write the same."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")

from rulesafe_cli.arguments import arguments_of
from rulesafe_cli.table import COMMANDS
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.proofs import prove
from rulesafe_studies.evaluation import evaluate
from rulesafe_studies.fsq import train_fsq
from rulesafe_studies.reading.commands import reading_policy
from rulesafe_studies.speeds import join

STUDY = Path(__file__).parents[1] / "study.sh"
SMALL = {
    "RULES": "rule_002 rule_003",
    "MEMORIES": "none vq",
    "SEEDS": "0 1",
    "DEMONSTRATIONS": "1",
    "STEPS": "2",
    "EPISODES": "1",
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
}
ONE_RULE = {"RULES": "rule_002", "SEEDS": "0"}

RECORD = """#!/usr/bin/env bash
line=$(printf '%q ' "$@")
echo "$line" >>"$CALLS"  # in one write, since calls are parallel
while [ $# -gt 0 ]; do
    if [ "$1" = --out ]; then mkdir -p "$2"; fi
    shift
done
"""
"""A program in place of `rulesafe`, which records its calls and creates their outputs."""


def begin(out, *studies, **environment):
    return subprocess.Popen(
        ["bash", str(STUDY), str(out), *studies],
        env={**os.environ, **SMALL, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finish(process, out):
    output, _ = process.communicate(timeout=1800)
    logs = "".join(path.read_text()[-2000:] for path in sorted((out / "logs").glob("*.log")))
    assert process.returncode == 0, output + logs


@pytest.fixture
def calls(tmp_path):
    """Return a function that runs studies without executing their commands, and returns these."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/rulesafe"
    program.write_text(RECORD)
    program.chmod(0o755)

    def run(*studies, **environment):
        file = tmp_path / "calls"
        file.unlink(missing_ok=True)
        path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        environment |= {"PATH": path, "CALLS": str(file), "RULESAFE_STUDIES": "rulesafe studies"}
        process = begin(tmp_path / "out", *studies, **environment)
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0, output
        return [shlex.split(line) for line in file.read_text().splitlines()]

    return run


ALL = {"RULES": "", "MEMORIES": "", "SEEDS": "", "DEMONSTRATIONS": "", "STEPS": "", "EPISODES": ""}
STUDIES = {"paper": 16 + 12 + 1 + 5 * 3 + 5, "network": 1 + 5 * 3}
STUDIES |= {"network_conditions": 0, "network_variants": 2 + 2 + 5, "twenty_rules": 10}
STUDIES |= {"memories": 21 * 3, "lengths": 3, "reading": 1}
STUDIES |= {"generated": 1, "robustness": 0, "four_rules": 4, "additions": 10, "control": 0}
"""Number of trainings of each study; one of those of `tokens` is one of `one_rule`."""


@pytest.mark.parametrize("study", STUDIES)
def test_the_commands_of_a_study_exist_and_take_these_options(study, calls):
    functions = {words: f for command in COMMANDS for words, f in command.functions().items()}
    functions |= {"studies eval": evaluate, "studies fsq": train_fsq, "studies join": join}
    functions |= {"studies reading_policy": reading_policy}
    made = calls(study, **ALL)
    for words in made:
        function = functions.get(" ".join(words[:2])) or functions[words[0]]
        known = {option for argument in arguments_of(function) for option in argument.options}
        assert {word for word in words if word.startswith("--")} <= known, words
        assert "" not in words, "a default is missing"
    trained = {
        words[words.index("--out") + 1] for words in made if words[:2] == ["policy", "train"]
    }
    assert len({out for out in trained if "/warm_" not in out}) == STUDIES[study]


def test_a_table_has_the_results_of_the_study_and_no_others(calls, tmp_path):
    tables = {
        Path(words[words.index("--out") + 1]).stem: words[2 : words.index("--out")]
        for study in ("paper", "twenty_rules")
        for words in calls(study, **ALL)
        if words[:2] == ["eval", "table"]
    }
    assert {name: len(found) for name, found in tables.items()} == {
        "tables_1_and_2": 2 * 4 * 2 * 2,
        "tables_1_and_2_models": 12,
        "table_3": 5 * 3,
        "table_4": 4,
        "table_4_lengths": 3,
        "twenty_rules": 2 + 3 * 3,
    }
    made = calls("robustness", **ALL)
    assert [len(words) for words in made if words[:2] == ["eval", "table"]] == [2 + 23 + 2]
    for option, count in {"--turn-back": 3, "--interference": 3, "--memory-control": 10}.items():
        assert sum(option in words for words in made) == count
    (table,) = (words for words in made if words[:2] == ["eval", "table"])
    evaluated = {words[words.index("--out") + 1] for words in made if "eval" in words[:2]}
    assert set(table[2:-2]) - {f"{tmp_path}/out/results/all_vq_0_nominal"} <= evaluated
    few = calls("twenty_rules", **ALL | {"MEMORIES": "vq", "SEEDS": "10"})
    names = [Path(word).name for word in few[-1][2:-2]]
    assert names[:3] == ["memoryless_nominal", "skills_nominal", "all_vq_0_nominal"]
    assert f"{tmp_path}/out/results/all_vq_10_nominal" in few[-1]


def test_the_locks_of_lengths_are_all_that_its_description_states(calls):
    words = next(words for words in calls("lengths", **ALL) if words[:2] == ["demos", "generate"])
    sampled = expand_rules("sampled_train,sampled_test").items()
    found = sorted(name for name, rule in sampled if _is_long(rule))
    assert words[words.index("--rules") + 1].split(",") == found


def _is_long(rule):
    facts = prove(rule)
    return len(facts.plan) >= 10 and facts.bits >= 2


def test_a_failed_command_is_named(tmp_path, calls):
    program = tmp_path / "bin/rulesafe"
    program.write_text("#!/bin/sh\ncase $* in *two_level*) echo broken; exit 3;; esac\n")
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "RULESAFE_STUDIES": "rulesafe studies"}
    run = begin(tmp_path / "out", "twenty_rules", **environment)
    output, _ = run.communicate(timeout=120)
    assert run.returncode != 0 and "failed: two_levels 0 none; see " in output
    log = output.split("; see ")[1].splitlines()[0]
    assert Path(log).read_text() == "broken\n"


@pytest.mark.train
@pytest.mark.episode
@pytest.mark.timeout(5400)
@pytest.mark.parametrize(
    ("study", "table", "first", "repeated", "reduced"),
    [
        ("twenty_rules", "twenty_rules", "all_none_0", "all_vq_1", {}),
        ("one_rule", "tables_1_and_2", "rule_002_none_0", "rule_002_vq_0", ONE_RULE),
    ],
)
def test_a_resumed_study_writes_the_same_tables(study, table, first, repeated, reduced, tmp_path):
    """Interrupted after its first training, or with some of its results missing."""
    run = begin(tmp_path, study, **reduced)
    end = time.monotonic() + 1800
    while not (tmp_path / "policies" / first / "policy.json").exists():
        assert run.poll() is None and time.monotonic() < end, run.communicate()[0]
        time.sleep(0.2)
    os.killpg(run.pid, signal.SIGINT)  # as Ctrl-C does
    run.communicate(timeout=600)
    page = tmp_path / f"{table}.md"
    assert run.returncode != 0 and not page.exists()
    finish(begin(tmp_path, study, **reduced), tmp_path)
    text = page.read_text()
    assert first in text and repeated in text
    shutil.rmtree(tmp_path / "policies" / repeated)
    for results in (tmp_path / "results").glob(f"{repeated}_*"):
        shutil.rmtree(results)
    page.unlink()
    finish(begin(tmp_path, study, **reduced), tmp_path)
    assert page.read_text() == text


def test_an_unknown_study_is_refused_with_the_list(tmp_path):
    run = begin(tmp_path, "table_5")
    output, _ = run.communicate(timeout=60)
    assert run.returncode == 2 and "unknown study 'table_5'" in output
    for name in ("paper", "one_rule", "models", "twenty_rules", "tokens", "memories"):
        assert f"\n  {name} " in output
