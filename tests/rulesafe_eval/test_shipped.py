"""The policies that come with the package open the safes that they were trained on."""

import json

import pytest

from policy_node.checkpoints import SHIPPED, read_policy, shipped
from rulesafe_cli.cli import main

EPISODES = 2


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_checkpoint_is_small_and_says_what_it_learned(name, capsys):
    checkpoint = read_policy(name)
    assert checkpoint.data["safes"] and checkpoint.data["instructions"]
    assert sum(file.stat().st_size for file in (SHIPPED / name).iterdir()) < 10e6
    assert main(["policy", "describe", name]) == 0
    assert "safe frame (x, y, z, yaw)  0." in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["two_level_all_rules", "two_level_all_rules_images", "reader_ten_safes"]
)
def test_the_policies_for_all_rules_open_safes_under_any_of_them(name, tmp_path):
    """At least three of six episodes, on three of the ten safes under two rules."""
    words = ["--policy", name, "--rules", "rule_005,rule_014", "--films", "0"]
    chosen = ["--safes", "all", "--split", "nominal", "--episodes", "3"]
    assert main(["eval", *words, *chosen, "--out", str(tmp_path / "out")]) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert sum(episode["opened"] for episode in results["episodes"]) >= 3


@pytest.mark.parametrize("rule", [pytest.param("rule_001", marks=pytest.mark.thorough), "rule_020"])
def test_a_shipped_policy_opens_what_it_learned_to_open(rule, tmp_path):
    """On the training safe at new poses; the success rate of each is about 90 %."""
    words = ["--policy", f"dp3_{rule}", "--rules", rule, "--films", "0"]
    out = ["--episodes", str(EPISODES), "--out", str(tmp_path / "out")]
    assert main(["eval", *words, *out]) == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["request"]["safes"] == ["safe_02"]
    assert sum(episode["opened"] for episode in results["episodes"]) >= 1
    assert all(episode["process_score"] > 0 for episode in results["episodes"])
