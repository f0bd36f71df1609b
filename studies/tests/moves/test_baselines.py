"""The baselines of RuleSafe-Moves-v1 and their stored results."""

import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_studies.moves import results

TRAINED = ("ppo", "ppo_sampled", "lstm", "transformer")


def test_every_training_was_evaluated_on_every_lock():
    for agent in TRAINED:
        trainings = results.read(results.FOLDER, "plan", agent)
        assert list(trainings) == ["0", "1", "2"]
        assert len({found["steps"] for found in trainings.values()}) == 1
        for found in trainings.values():
            for rules in results.SETS:
                counts = np.array(found["opened"][rules])
                assert counts.shape == (len(expand_rules(rules)), 1)
                assert counts.min() >= 0 and counts.max() <= found["episodes"]


def test_no_policy_without_memory_opens_a_lock_that_no_table_opens():
    """With the most probable action, a memoryless policy is one of the 81 tables of each lock."""
    (ceiling,) = results.read(results.FOLDER, "plan", "table").values()
    for found in results.read(results.FOLDER, "plan", "ppo").values():
        for rules in results.SETS:
            opened, limit = (np.array(each["opened"][rules]) for each in (found, ceiling))
            assert (opened <= limit).all()


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"0": {}}', '{"0": {"opened": {"twenty": [[1]]}}}']
)
def test_files_that_are_not_complete_results_are_rejected(tmp_path, content):
    with pytest.raises(RuleSafeError, match="has no results"):
        results.draw(tmp_path)
    (tmp_path / "plan_ppo.json").write_text(content)
    with pytest.raises(RuleSafeError, match=r"plan_ppo\.json (is not|has no complete) results"):
        results.draw(tmp_path)


@pytest.mark.train
def test_one_command_trains_evaluates_and_draws_and_continues(peers, tmp_path):
    """References are exactly those of the page; each agent is trained for a few thousand moves."""
    pytest.importorskip("torch", reason="the extra learn is not installed")
    settings = peers("sb3_contrib", "stable-baselines3==2.9.2", "sb3-contrib==2.9.2")
    command = [sys.executable, "-m", "rulesafe_studies", "moves", "--out", str(tmp_path)]

    def run(*arguments):
        return subprocess.run(
            [*command, *arguments], capture_output=True, text=True, env=settings, timeout=500
        )

    done = run("--quick")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("plan_") == 2 + len(TRAINED)
    for agent in ("random", "table"):
        found, kept = ((at / f"plan_{agent}.json").read_text() for at in (tmp_path, results.FOLDER))
        assert json.loads(found)["0"]["opened"] == json.loads(kept)["0"]["opened"]
    for agent in TRAINED:
        (found,) = json.loads((tmp_path / f"plan_{agent}.json").read_text()).values()
        assert found["steps"] == 4096
        assert {name: len(counts) for name, counts in found["opened"].items()} == {
            name: len(expand_rules(name)) for name in found["opened"]
        }
    image = tmp_path / "moves.png"
    with Image.open(image) as drawn:
        assert drawn.width >= 1300
    image.unlink()
    (tmp_path / "plan_ppo.json").unlink()
    again = run("--quick")
    assert again.returncode == 0 and again.stdout.count("plan_") == 1 and image.exists()
    other = run("--steps", "8192")
    assert other.returncode == 2 and "4096 moves instead of 8192" in other.stderr
    assert "Traceback" not in other.stderr
