"""Disturbances: a part that is turned back, and motions before the episode."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from policy_node.policy import CHUNK, Needs
from rulesafe_cli.cli import main as rulesafe
from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.diagnosis import TOUCH
from rulesafe_eval.request import Setup
from rulesafe_eval.results import read_results
from rulesafe_locks.plans import plan_distance
from rulesafe_locks.rules import RULES, load_rule
from rulesafe_locks.scores import progress_after
from rulesafe_sim.episode import Activity, EpisodeRecord
from rulesafe_sim.episodes import Episode
from rulesafe_sim.randomisation import load_split, sample_variation
from rulesafe_sim.runtime import Playback, Runtime
from rulesafe_sim.simulation import HOME_ACTION, Simulation
from rulesafe_studies import interference
from rulesafe_studies.__main__ import main
from rulesafe_studies.disturbances import (
    MAX_FRAMES,
    TORQUE,
    TurnBack,
    recovery,
    recovery_text,
    undoable,
)
from rulesafe_studies.evaluation import StudyAgent, StudyRunner
from rulesafe_studies.interference import another_episode, interfere
from vq_memory_node.memory import RawMemory

RULE_001 = load_rule("rule_001")


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


@pytest.fixture
def turning():
    """Return turning(*frames): the torques after each frame, and the disturbance, which turns the
    knob of rule_001 back. Each frame has the events so far and the contact force on the knob, N."""
    back = next(b for seed in range(9) if (b := TurnBack(RULE_001, seed)).undone.steps == 1)
    simulation = SimpleNamespace(external_torques={}, frame=0)

    def turn(*frames):
        torques = []
        for events, force in frames:
            simulation.frame += 1
            simulation.progress = progress_after(RULE_001, events)
            opened = {part: f"{part}+" in events for part in ("knob", "handle")}
            opened["knob"] &= "knob-" not in events
            state = SimpleNamespace(
                frame=simulation.frame, contact_forces={"knob": force}, part_open=opened
            )
            simulation.state = lambda state=state: state
            back(simulation, None, Activity())
            torques.append(simulation.external_torques)
        return torques, back

    return turn


def test_a_part_is_turned_back_when_it_has_been_free_for_five_frames(turning):
    held, free = (["knob+"], TOUCH), (["knob+"], 0.0)
    torques, back = turning(([], 0.0), held, *[free] * 4, held, *[free] * 5)
    assert torques == [{}] * 11 + [{"knob": -TORQUE}]
    torques, _ = turning(free, (["knob+", "knob-"], 0.0), held)
    assert torques == [{"knob": -TORQUE}, {}, {}]
    assert back.facts() == {"turned_back": {"event": "knob-", "frame": 14}}


def test_a_part_that_does_not_turn_is_released_after_three_seconds(turning):
    torques, back = turning(*[(["knob+"], 0.0)] * (4 + MAX_FRAMES + 2))
    assert torques == [{}] * 4 + [{"knob": -TORQUE}] * 30 + [{}] * 2
    assert back.frame is None


def test_no_part_is_turned_back_after_another_move(turning):
    torques, back = turning((["knob+"], TOUCH), *[(["knob+", "handle+"], 0.0)] * 9)
    assert not any(torques) and back.frame is None


def test_the_steps_of_a_disturbance_extend_the_time_limit():
    """The only undoable step of rule_005 makes its plan of 4 steps 3 steps longer."""
    episode = Episode("rule_005", "safe_02", 0, time_limit=2.0)
    for turn_back, frames in ((False, 20), (True, 35)):
        runner = StudyRunner(Setup("expert", step_seconds=0.5), turn_back=turn_back)
        still = Playback(np.tile(HOME_ACTION, (40, 1)))
        line, *_ = runner.execute(still, replace(episode, variation=episode.sample()))
        assert line["frames"] == frames


def test_recovery_counts_only_episodes_in_which_a_part_was_turned_back():
    places = [{"safe": "safe_01", "seed": seed} for seed in range(8)]
    lines = [
        place | {"opened": opened, "turned_back": {"event": "knob-", "frame": 5}}
        for place in places
        for opened in [place["seed"] % 2 == 0] * 10  # the same under ten rules
    ]
    others = [
        places[0] | {"opened": True, "turned_back": {"event": "knob-", "frame": None}},
        places[0] | {"opened": True},
    ]
    found = recovery([*lines, *others])
    assert (found["episodes"], found["opened"]) == (80, 40)
    low, high = found["interval"]
    assert low < 0.25 and high > 0.75, "eight poses, not 80 episodes"
    assert recovery_text(found).startswith(
        "40 of 80 episodes in which a part was turned back, 50 %"
    )
    assert recovery(lines[:50])["interval"] is None, "five poses"
    assert recovery(others) is None


def test_external_torques_turn_a_part_and_end_with_the_reset():
    simulation = Simulation()
    simulation.reset("rule_001", "safe_02", 0)
    simulation.external_torques = {"knob": TORQUE}
    for _ in range(20):
        simulation.step(HOME_ACTION)
    assert simulation.state().part_open == {"knob": True, "handle": False, "door": False}
    simulation.reset("rule_001", "safe_02", 0)
    for _ in range(5):
        simulation.step(HOME_ACTION)
    assert simulation.state().part_positions["knob"] == pytest.approx(0, abs=1e-3)


@pytest.mark.episode
def test_the_expert_recovers_and_the_film_shows_the_same_episode(tmp_path, capsys):
    """The film executes the actions again and compares the physics, which requires the same
    disturbance."""
    words = ["eval", "--policy", "expert", "--rules", "rule_001,rule_016", "--safes", "safe_02"]
    words += ["--episodes", "1"]
    assert main([*words, "--turn-back", "--films", "1", "--out", str(tmp_path / "back")]) == 0
    assert "recovery: 1 of 1 episodes in which a part was turned back" in capsys.readouterr().out
    assert rulesafe([*words, "--films", "0", "--out", str(tmp_path / "plain")]) == 0
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


@pytest.mark.episode
def test_interference_is_in_the_memory_and_not_in_the_episode():
    rule, split = load_rule("rule_001"), load_split("nominal").randomisation
    variation = sample_variation(split, "safe_04", 3)
    simulation = Simulation()
    positions, events = interfere(simulation, rule, "safe_04", 3, variation)
    assert sorted(events) == ["handle+", "handle-", "knob+", "knob-"]
    assert simulation.frame == 0 and simulation.progress.steps_done == 0
    assert not any(simulation.state().part_open.values())
    assert simulation.rule is rule and simulation.progress.rule is rule
    start = positions[0]
    assert np.abs(positions - start).max() > 0.5, "the arm has moved"
    assert np.abs(simulation.state().action_positions - start).max() < 0.15, "and has returned"
    again, _ = interfere(Simulation(), rule, "safe_04", 3, variation)
    assert np.array_equal(positions, again)

    readings = []

    class Remembers:
        needs = Needs(memory=True)

        def reset(self):
            pass

        def infer(self, observation):
            readings.append(observation.memory)
            return np.repeat(observation.joints[-1:], CHUNK, axis=0)

    agent = StudyAgent(Remembers(), RawMemory(6), 12)
    agent.earlier = positions
    Runtime(simulation, 0.1).run(agent)
    times = len(positions) - 20 * np.arange(5, -1, -1)
    np.testing.assert_allclose(readings[0].values[:-1], positions[times[:-1]], atol=0.02)
    assert readings[0].mask.all()


def test_other_events_than_the_requested_ones_are_no_interference(monkeypatch):
    """For example, if the arm moves the handle on its way back."""
    rule, split = load_rule("rule_001"), load_split("nominal").randomisation
    variation = sample_variation(split, "safe_04", 3)
    tried = []

    def play(simulation, events, kind, happen=lambda events: [*events, "handle+"]):
        tried.append(events)
        return np.ones((5, 13), np.float32), happen(events)

    monkeypatch.setattr(interference, "_play", play)
    simulation = Simulation()
    positions, events = interfere(simulation, rule, "safe_04", 3, variation)
    assert events == [] and positions.shape == (0, 13) and [len(t) for t in tried] == [4, 4, 2, 2]
    assert tried[0] == tried[2] + tried[3] and tried[1] == tried[3] + tried[2]
    monkeypatch.setattr(
        interference, "_play", lambda *given: play(*given, lambda events: events[-2:])
    )
    positions, events = interfere(simulation, rule, "safe_04", 3, variation)
    assert len(positions) == 5 and len(events) == 2


def test_another_episode_has_another_plan_and_opens_the_safe(monkeypatch):
    """Two rules have the same shortest plan as rule_005 and as rule_012; the expert may fail."""
    played = []

    class Played:
        def __init__(self, simulation, subscribers):
            self.simulation = simulation

        def run(self, agent):
            played.append(self.simulation.rule.id)
            return EpisodeRecord(played[-1], "safe_04", 0, success=len(played) % 3 == 0)

    monkeypatch.setattr(interference, "Runtime", Played)
    variation = sample_variation(load_split("nominal").randomisation, "safe_04", 0)
    simulation = Simulation()
    for seed in range(12):
        another_episode(simulation, load_rule("rule_005"), "safe_04", seed, variation)
    assert len(played) == 36 and len(set(played)) > 9
    assert not {"rule_005", "rule_007"} & set(played)
    monkeypatch.setattr(interference, "RULES", ("rule_005", "rule_007"))
    with pytest.raises(RuleSafeError, match="does not open safe_04, seed 1, under any other rule"):
        another_episode(simulation, load_rule("rule_005"), "safe_04", 1, variation)


@pytest.mark.episode
def test_an_episode_after_interference_can_be_filmed(tmp_path):
    """The film compares the physics, which includes the interference."""
    words = ["eval", "--policy", "expert", "--rules", "rule_002", "--safes", "safe_02"]
    words += ["--split", "nominal", "--episodes", "1", "--films", "1", "--out", str(tmp_path)]
    assert main([*words, "--interference"]) == 0
    (episode,) = read_results(tmp_path)["episodes"]
    assert episode["opened"] and [e["event"] for e in episode["events"]] == ["knob+", "door+"]
    assert episode["frames"] < 400 and len(episode["interference"]) == 4
    assert ">interference<" in (tmp_path / "report.html").read_text("utf-8")
