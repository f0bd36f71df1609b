"""The public Python interface, `import rulesafe`."""

import doctest
import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest

import rulesafe
from rulesafe_core.errors import RuleSafeError


def test_the_examples_of_its_documentation():
    found = doctest.testmod(rulesafe)
    assert found.attempted > 4 and found.failed == 0


def test_every_name_is_documented_where_it_comes_from():
    for name in rulesafe.__all__:
        assert getattr(rulesafe, name).__doc__ and name in dir(rulesafe)
    with pytest.raises(AttributeError, match="no attribute 'Pollicy'"):
        _ = rulesafe.Pollicy


def test_gymnasium_finds_the_environment_without_loading_sapien_first():
    code = """
import sys, rulesafe, gymnasium
assert "sapien" not in sys.modules and "torch" not in sys.modules
assert gymnasium.spec("RuleSafe-v1").entry_point == "rulesafe_sim.env:RuleSafeEnv"
gymnasium.make("rulesafe:RuleSafe-v1", observations=("joint_positions",)).close()
"""
    done = subprocess.run([sys.executable, "-W", "error::UserWarning:gymnasium", "-c", code])
    assert done.returncode == 0


def test_an_environment_has_its_rule_and_safe():
    env = rulesafe.make_env("rule_003", "safe_07", observations=("joint_positions",))
    _, info = env.reset(seed=3)
    assert (info["rule"], info["safe"], info["seed"]) == ("rule_003", "safe_07", 3)
    assert isinstance(env, gymnasium.Env)
    env.close()


POLICY = """
import numpy as np, rulesafe

class Still:
    needs = rulesafe.Needs()

    def reset(self):
        pass

    def infer(self, observation):
        return np.repeat(observation.joints[-1:], 50, axis=0)
"""


def test_a_policy_is_evaluated_as_by_the_command(tmp_path, monkeypatch, capsys):
    (tmp_path / "still_policy.py").write_text(POLICY)
    monkeypatch.syspath_prepend(tmp_path)
    options = {"rules": ["rule_001"], "safes": "safe_02", "episodes": 1, "step_seconds": 1.0}
    arguments = ("still_policy:Still", tmp_path / "out")
    found = rulesafe.evaluate(*arguments, execute=50, **options)
    assert found["complete"] and found["request"]["setup"]["execute"] == 50
    (episode,) = found["episodes"]
    assert (episode["opened"], episode["safe"], episode["frames"]) == (False, "safe_02", 30)
    assert rulesafe.evaluate(*arguments, execute=50, **options)["episodes"] == [episode]
    assert "all 1 episodes are finished; none was run" in capsys.readouterr().out
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"results.json", "report.html", "submission.json"} <= written
    (tmp_path / "still_policy.py").write_text(POLICY.replace("-1:", ":1"))
    with pytest.raises(RuleSafeError, match=r"1 finished episodes of another.*still_policy\.py"):
        rulesafe.evaluate(*arguments, execute=50, **options)


def test_a_policy_is_repaired_in_the_same_folder_before_an_episode_is_finished(tmp_path):
    """In a process of its own each time, since modules are imported once."""
    (tmp_path / "weights").write_text("1")
    source = POLICY.replace("needs =", "files = ('weights',)\n    needs =")
    words = ["--rules", "rule_001", "--safes", "safe_02", "--step-seconds", "1", "--execute", "50"]

    def evaluated(text, episodes="1"):
        (tmp_path / "repaired.py").write_text(text)
        program = str(Path(sys.executable).with_name("rulesafe"))
        command = [program, "eval", "--policy", "repaired:Still"]
        command += [*words, "--episodes", episodes, "--out", "out"]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    failed = evaluated(source.replace("50, axis=0", "50"))
    assert failed.returncode == 2 and "(650,)" in failed.stderr
    assert evaluated(source).returncode == 0, "no episode was finished"
    (tmp_path / "weights").write_text("2")
    other = evaluated(source, "2")
    assert other.returncode == 2 and "1 finished episodes of another request" in other.stderr


def test_a_script_on_the_standard_input_learns_of_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-"],
        input="import rulesafe\nrulesafe.evaluate('expert', 'out')",
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode and "save it in a file" in done.stderr


def test_a_script_without_a_guard_learns_of_it(tmp_path):
    (tmp_path / "script.py").write_text(
        "import rulesafe\nrulesafe.evaluate('expert', 'out', rules='rule_001', episodes=1)"
    )
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode and 'under `if __name__ == "__main__":`' in done.stderr


def test_an_unknown_option_is_refused(tmp_path):
    with pytest.raises(RuleSafeError, match=r"unknown option 'rule'.*rules"):
        rulesafe.evaluate("expert", tmp_path, rule="rule_001")


@pytest.mark.parametrize(
    ("policy", "options", "message"),
    [
        (object, {}, "policy is <class 'object'>; valid: its name"),
        ("expert", {"episodes": "3"}, "episodes"),
        ("expert", {"seed": 1.5}, "seed"),
        ("expert", {"execute": [12]}, "execute"),
        ("expert", {"rules": 1}, "rules"),
    ],
)
def test_an_option_of_another_type_is_refused(tmp_path, policy, options, message):
    with pytest.raises(RuleSafeError, match=message):
        rulesafe.evaluate(policy, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
