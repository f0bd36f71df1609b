"""A part that is turned back: when, with which effect, and how recovery is reported."""

import numpy as np
import pytest

from rulesafe_cli.cli import main
from rulesafe_eval.disturbances import TurnBack, disturbances, undoable
from rulesafe_eval.request import Setup
from rulesafe_eval.results import read_results
from rulesafe_eval.statistics import recovery
from rulesafe_locks.plans import plan_distance
from rulesafe_locks.rules import RULES, load_rule
from rulesafe_locks.scores import progress_after
from rulesafe_sim.simulation import HOME_ACTION, Simulation


@pytest.mark.parametrize("name", RULES)
def test_undoing_a_step_makes_the_plan_longer_and_leaves_it_possible(name):
    rule = load_rule(name)
    plan = progress_after(rule, ()).plan
    for steps, event, extra in undoable(rule):
        before = progress_after(rule, plan[:steps])
        assert not before.locked[event[:-1]]
        assert plan[steps - 1] == event[:-1] + {"+": "-", "-": "+"}[event[-1]]
        after = progress_after(rule, [*plan[:steps], event])
        assert plan_distance(rule, after.state) == len(plan) - steps + extra
        assert extra > 0


def test_every_undoable_step_is_drawn_and_some_rules_have_none():
    rule = load_rule("rule_020")
    drawn = {TurnBack(rule, seed).undone for seed in range(60)}
    assert drawn == set(undoable(rule))
    assert TurnBack(rule, 3).undone == TurnBack(rule, 3).undone
    never = TurnBack(load_rule("rule_016"), 0)
    assert never.undone is None and never.extra == 0
    assert not disturbances(Setup("expert"), rule, 0)
    assert len(disturbances(Setup("expert", turn_back=True), rule, 0)) == 1


def test_recovery_counts_only_episodes_in_which_a_part_was_turned_back():
    lines = [
        {"opened": True, "turned_back": {"event": "knob-", "frame": 5}},
        {"opened": False, "turned_back": {"event": "knob-", "frame": 5}},
        {"opened": True, "turned_back": {"event": "knob-", "frame": None}},
        {"opened": True},
    ]
    found = recovery(lines)
    assert (found["episodes"], found["opened"]) == (2, 1)
    assert found["interval"][0] < 0.5 < found["interval"][1]
    assert recovery(lines[2:]) is None


def test_external_torques_turn_a_part_and_end_with_the_reset():
    simulation = Simulation()
    simulation.reset("rule_001", "safe_02", 0)
    simulation.external_torques = {"knob": 0.12}
    for _ in range(20):
        simulation.step(HOME_ACTION)
    assert simulation.state().part_open == {"knob": True, "handle": False, "door": False}
    simulation.reset("rule_001", "safe_02", 0)
    for _ in range(5):
        simulation.step(HOME_ACTION)
    assert simulation.state().part_positions["knob"] == pytest.approx(0, abs=1e-3)


@pytest.mark.episode
@pytest.mark.render
def test_the_expert_recovers_and_the_film_shows_the_same_episode(tmp_path, capsys):
    """The film executes the actions again and compares the physics, which requires the same
    disturbance."""
    words = ["eval", "--policy", "expert", "--rules", "rule_001,rule_016", "--safes", "safe_02"]
    words += ["--split", "nominal", "--episodes", "1"]
    assert main([*words, "--turn-back", "--films", "1", "--out", str(tmp_path / "back")]) == 0
    assert "recovery: 1 of 1 episodes in which a part was turned back" in capsys.readouterr().out
    assert main([*words, "--films", "0", "--out", str(tmp_path / "plain")]) == 0
    plain, back = (read_results(tmp_path / name)["episodes"] for name in ("plain", "back"))
    turned = back[0]["turned_back"]
    events = [event["event"] for event in back[0]["events"]]
    plan = list(back[0]["plan"])
    at = events.index(turned["event"])
    assert events == [*plan[:at], turned["event"], *plan[at - 1 :]]
    assert back[0]["opened"] and back[0]["frames"] > plain[0]["frames"] and at >= 1
    time = back[0]["events"][at]["time"]
    assert np.isclose(time * 10, turned["frame"], atol=1)
    assert back[1]["turned_back"] == {"event": "", "frame": None}
    assert back[1]["state_digest"] == plain[1]["state_digest"]
    assert "turned_back" not in plain[0]
