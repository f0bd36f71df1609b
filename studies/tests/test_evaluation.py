"""Evaluations with changed memories, and with the memory of another episode."""

import numpy as np
import pytest

from policy_node.policy import CHUNK, Needs
from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.conditions import Conditions
from rulesafe_eval.request import Setup
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episodes import Episode
from rulesafe_sim.randomisation import load_split, sample_variation
from rulesafe_sim.simulation import HOME_ACTION, Simulation
from rulesafe_studies.evaluation import StudyAgent, StudyRunner, evaluate
from rulesafe_studies.interference import interfere
from rulesafe_studies.keyframes import OraclePhases
from rulesafe_studies.memory_controls import ANOTHER, CHANGES
from vq_memory_node.memory import RawMemory, Reading
from vq_memory_node.rolling import readings_of

EPISODE = Episode("rule_002", "safe_02", 0, time_limit=16.0)


class Listening:
    """Keeps the memory readings that it receives."""

    needs = Needs(memory=True)

    def __init__(self):
        self.readings = []

    def reset(self):
        self.readings.append([])

    def infer(self, observation):
        self.readings[-1].append(observation.memory)
        return np.tile(HOME_ACTION.astype(np.float32), (CHUNK, 1))


def play(policy, memory, control, folder):
    """Return the line of EPISODE, played with a memory control."""
    runner = StudyRunner(Setup("listening"), control)
    agent = StudyAgent(policy, memory, 10)
    agent.control = control
    return runner.play(agent, folder, EPISODE)


@pytest.mark.episode
def test_shuffled_memory_keeps_what_and_loses_when(tmp_path):
    readings = {}
    for name in ("none", "shuffled"):
        policy = Listening()
        for _ in range(2):
            play(policy, RawMemory(8), name, tmp_path)
        *_, first, second = policy.readings
        assert all(np.array_equal(a.values, b.values) for a, b in zip(first, second, strict=True))
        readings[name] = second
    moved = 0
    for plain, shuffled in zip(readings["none"], readings["shuffled"], strict=True):
        assert np.array_equal(plain.mask, shuffled.mask)
        assert not shuffled.values[~shuffled.mask].any()
        assert sorted(map(tuple, plain.values)) == sorted(map(tuple, shuffled.values))
        moved += not np.array_equal(plain.values, shuffled.values)
    assert moved > len(readings["none"]) / 2


@pytest.mark.episode
def test_the_memory_of_another_episode_replaces_that_of_the_present_one(tmp_path):
    """The robot rests, and the memory contains the expert's motions; the physics is unchanged."""
    lines, readings = {}, {}
    for control in ("none", ANOTHER, ANOTHER):
        policy = Listening()
        lines[control] = play(policy, RawMemory(8), control, tmp_path)
        if control in readings:
            again = [each.values for each in policy.readings[-1]]
            np.testing.assert_array_equal(again, [each.values for each in readings[control]])
        readings[control] = policy.readings[-1]
    assert lines["none"]["state_digest"] == lines[ANOTHER]["state_digest"]
    for rests, moves in zip(readings["none"], readings[ANOTHER], strict=True):
        assert np.array_equal(rests.mask, moves.mask)
    assert np.ptp(readings["none"][-1].values, axis=0).max() < 0.2
    assert np.ptp(readings[ANOTHER][-1].values, axis=0).max() > 0.5


@pytest.mark.episode
@pytest.mark.parametrize("control", ["none", ANOTHER])
def test_a_memory_of_other_inputs_receives_those_of_another_episode(control, tmp_path):
    policy = Listening()
    play(policy, OraclePhases(8), control, tmp_path)
    masks = [reading.mask.sum() for reading in policy.readings[-1]]
    assert masks[0] == 0
    assert (masks[-1] > 0) == (control == ANOTHER), "the robot rests"


@pytest.mark.episode
def test_interference_is_in_the_memory_of_any_input():
    rule, split = load_rule("rule_001"), load_split("nominal").randomisation
    arguments = rule, "safe_04", 3, sample_variation(split, "safe_04", 3)
    phases, events = interfere(Simulation(), *arguments, "phases")
    first, second = ({"knob": 1, "handle": 2}[event[:-1]] for event in (events[0], events[2]))
    last = readings_of(phases, OraclePhases(8))[len(phases) - 1]
    assert last.values[last.mask].tolist() == [first, 0, second, 0]
    actions, _ = interfere(Simulation(), *arguments, "actions")
    positions, _ = interfere(Simulation(), *arguments)
    assert len(actions) == len(positions) == len(phases)
    assert np.array_equal(actions[0], positions[0])
    assert 0.01 < np.abs(actions - positions).max() < 0.6


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        ("none", [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        ("delayed", [0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ("truncated", [0, 0, 0, 0, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    ],
)
def test_a_changed_memory_has_fewer_values_the_newest_last(control, expected):
    values = np.arange(15) - 2
    values[:2] = 0
    given = Reading(values, np.arange(15) >= 2)

    class Remembering(StudyAgent):
        def __init__(self):
            self.control, self._random = control, np.random.default_rng(0)
            self.memory = type("Fixed", (), {"read": lambda self: given})()

    reading = Remembering().read_memory()
    assert reading.values.tolist() == expected
    lost = {"none": 2, "delayed": 5, "truncated": 5}[control]
    assert reading.mask.tolist() == [False] * lost + [True] * (15 - lost)


def test_a_delayed_memory_is_not_empty_and_a_perturbed_one_keeps_its_ends():
    rng = np.random.default_rng(0)
    assert CHANGES["delayed"](np.arange(2), rng).tolist() == [0], "as at the start of an episode"
    values = np.arange(30)
    changed = np.array([CHANGES["perturbed"](values, rng) for _ in range(5)])
    assert (changed[:, :10] == values[:10]).all() and (changed[:, 20:] == values[20:]).all()
    assert (changed[:, 10:20] != values[10:20]).mean() > 0.5
    assert len(np.unique(changed, axis=0)) == 5, "drawn again at each inference"
    assert len(CHANGES["perturbed"](np.arange(0), rng)) == 0


def test_a_policy_without_memory_has_no_memory_control(tmp_path):
    with pytest.raises(RuleSafeError, match="requires a policy with memory; expert has none"):
        evaluate("expert", tmp_path, memory_control="shuffled")
    with pytest.raises(RuleSafeError, match="an episode of a benchmark is not disturbed"):
        evaluate("expert", tmp_path, Conditions(benchmark="multi_task"), turn_back=True)
