"""The baselines of RuleSafe-Moves-v1: examples/moves, and the numbers of docs/results/moves.md."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.lock_sets import expand_rules

ROOT = Path(__file__).parents[1]
PAGE, DATA = ROOT / "docs/results/moves.md", ROOT / "docs/results/data/moves"
EXAMPLE = ROOT / "examples/moves"
TRAINED = ("ppo", "ppo_sampled", "lstm", "transformer")


@pytest.fixture(scope="module")
def figure():
    spec = importlib.util.spec_from_file_location("moves_figure", EXAMPLE / "figure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table_of(page, heading):
    """Return the rows of the first table below a heading of the page."""
    section = f"\n{page}".split(f"\n{heading}\n")[1]
    lines = re.search(r"((?:^\|.*\n)+)", section, re.MULTILINE)[1].splitlines()
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[2:]]


def test_the_tables_of_the_page_are_those_of_the_files(figure):
    page = PAGE.read_text("utf-8")
    assert table_of(page, "# Memory without dexterity") == list(figure.rows(DATA, "plan"))
    assert table_of(page, "<summary>By bits of memory</summary>") == list(
        figure.rows_by_bits(DATA, "plan")
    )


def test_the_numbers_of_the_text_are_those_of_the_files(figure):
    text = " ".join(PAGE.read_text("utf-8").split())
    rate = {
        (agent, rules): f"{100 * figure.summary(figure.read(DATA, 'plan', agent), rules)[0]:.0f} %"
        for agent in figure.AGENTS
        for rules in figure.SETS
    }
    test, hard, known = "sampled_test", "sampled_hard", "sampled_train"
    assert (
        f"an LSTM opens {rate['lstm', test]} of 27 locks and a causal transformer "
        f"{rate['transformer', test]}." in text
    )
    assert f"is {rate['table', test]}; PPO without memory reaches {rate['ppo', test]}." in text
    assert f"fail mostly ({rate['lstm', hard]} and {rate['transformer', hard]})" in text
    assert f"{rate['lstm', known]} (LSTM) and {rate['transformer', known]}" in text
    free = figure.summary(figure.read(DATA, "plan", "ppo"), known, 0.0)[0]
    assert f"of the 13 training locks that need no memory it opens {100 * free:.0f} %" in text
    assert f"same agent opens {rate['ppo_sampled', known]} of the training locks" in text
    assert f"random moves ({rate['random', known]})" in text
    found = {
        rules: [
            figure.summary(figure.read(DATA, "plan", agent), rules, group)[0]
            for agent in ("lstm", "transformer")
            for group in set(figure.bits(rules)) - {0.0}
        ]
        for rules in (known, test)
    }
    ends = [f"{100 * f(found[rules]):.0f}" for rules in (known, test) for f in (min, max)]
    shown = "open {} to {} % of these training locks and {} to {} % of the new ones"
    assert shown.format(*ends) in text


def test_the_numbers_of_unknown_locks_are_those_of_the_files(figure):
    text = " ".join(PAGE.read_text("utf-8").split())
    found = {
        (agent, rules, attempt): f"{100 * figure.summary(results, rules, None, attempt)[0]:.0f} %"
        for agent in ("random", "transformer")
        for results in [figure.read(DATA, "unknown", agent)]
        for rules in ("sampled_train", "sampled_test")
        for attempt in (0, 2)
    }
    for rules, words in (
        ("sampled_test", "{} in the first and {} in the third attempt, random moves {} and {}"),
        ("sampled_train", "on the training locks {} and {}, random moves {} and {}"),
    ):
        rates = [found[agent, rules, n] for agent in ("transformer", "random") for n in (0, 2)]
        assert words.format(*rates) in text


def test_every_training_was_evaluated_on_every_lock(figure):
    for agent in TRAINED:
        results = figure.read(DATA, "plan", agent)
        assert list(results) == ["0", "1", "2"]
        assert len({found["steps"] for found in results.values()}) == 1
        for found in results.values():
            for rules in figure.SETS:
                counts = np.array(found["opened"][rules])
                assert counts.shape == (len(expand_rules(rules)), 1)
                assert counts.min() >= 0 and counts.max() <= found["episodes"]


def test_no_policy_without_memory_opens_a_lock_that_no_table_opens(figure):
    """With the most probable action, a memoryless policy is one of the 81 tables of each lock."""
    (ceiling,) = figure.read(DATA, "plan", "table").values()
    for found in figure.read(DATA, "plan", "ppo").values():
        for rules in figure.SETS:
            opened, limit = (np.array(each["opened"][rules]) for each in (found, ceiling))
            assert (opened <= limit).all()


def test_the_figure_is_drawn_from_the_files(figure, tmp_path):
    figure.write(DATA, tmp_path / "moves.png")
    with (
        Image.open(tmp_path / "moves.png") as drawn,
        Image.open(PAGE.with_name("moves.png")) as kept,
    ):
        assert drawn.size == kept.size and drawn.width >= 1400


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"0": {}}', '{"0": {"opened": {"twenty": [[1]]}}}']
)
def test_files_that_are_not_complete_results_are_rejected(figure, tmp_path, content):
    with pytest.raises(RuleSafeError, match="has no results"):
        figure.write(tmp_path, tmp_path / "moves.png")
    (tmp_path / "plan_ppo.json").write_text(content)
    with pytest.raises(RuleSafeError, match=r"plan_ppo\.json (is not|has no complete) results"):
        figure.write(tmp_path, tmp_path / "moves.png")
    assert not (tmp_path / "moves.png").exists()


@pytest.mark.train
def test_one_command_trains_evaluates_and_draws_and_continues(peers, tmp_path):
    """References are exactly those of the page; each agent is trained for a few thousand moves."""
    pytest.importorskip("torch", reason="the extra learn is not installed")
    settings = peers("sb3_contrib", "stable-baselines3==2.9.2", "sb3-contrib==2.9.2")
    command = [sys.executable, str(EXAMPLE / "baselines.py"), "--out", str(tmp_path)]

    def run(*arguments):
        return subprocess.run(
            [*command, *arguments], capture_output=True, text=True, env=settings, timeout=500
        )

    done = run("--quick")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("plan_") == 2 + len(TRAINED)
    for agent in ("random", "table"):
        found, kept = ((at / f"plan_{agent}.json").read_text() for at in (tmp_path, DATA))
        assert json.loads(found)["0"]["opened"] == json.loads(kept)["0"]["opened"]
    for agent in TRAINED:
        (found,) = json.loads((tmp_path / f"plan_{agent}.json").read_text()).values()
        assert found["steps"] == 4096
        assert {name: len(counts) for name, counts in found["opened"].items()} == {
            name: len(expand_rules(name)) for name in found["opened"]
        }
    image, tables = tmp_path / "moves.png", done.stdout[done.stdout.index("|") :]
    with Image.open(image) as drawn:
        assert drawn.width >= 1400
    image.unlink()
    (tmp_path / "plan_ppo.json").unlink()
    again = run("--quick", "--image", str(tmp_path / "again.png"))
    assert again.returncode == 0 and again.stdout.count("plan_") == 1
    assert again.stdout.endswith(tables) and not image.exists()
    assert (tmp_path / "again.png").exists()
    other = run("--steps", "8192")
    assert other.returncode == 1 and "4096 moves instead of 8192" in other.stderr
    assert "Traceback" not in other.stderr
