"""The memory of a policy is the same in a demonstration and in an evaluation."""

import numpy as np
import pytest

from policy_node.memory_inputs import memory_input
from policy_node.policy import Needs
from rulesafe_cli.cli import main
from rulesafe_data.layout import ACTION
from rulesafe_data.store import EpisodeStore
from rulesafe_eval.policies import PolicyAgent
from rulesafe_sim.episode import AgentLog
from rulesafe_sim.simulation import HOME_ACTION, Simulation
from rulesafe_sim.variation import Variation
from rulesafe_studies.controls import PastActions
from rulesafe_studies.keyframes import GraspKeyframes, GraspTokens, OraclePhases, TokenKeyframes
from vq_memory_node.memory import RawMemory
from vq_memory_node.rolling import readings_of

pytestmark = pytest.mark.episode

EVERY = 10
MEMORIES = [
    RawMemory(6),
    PastActions(6),
    OraclePhases(6),
    GraspKeyframes(6),
    GraspTokens(length=6),
    TokenKeyframes(length=6),
]


@pytest.fixture(scope="module")
def demonstrations(tmp_path_factory):
    """A dataset of one demonstration of rule_001."""
    folder = tmp_path_factory.mktemp("demonstrations") / "demos"
    words = ["--rules", "rule_001", "--safes", "safe_02", "--split", "nominal", "--style", "strict"]
    words += ["--episodes", "1", "--passes", "states", "--out", str(folder)]
    assert main(["demos", "generate", *words]) == 0
    assert main(["demos", "render", str(folder), "--observations", "joints"]) == 0
    return EpisodeStore(folder)


@pytest.mark.parametrize("memory", MEMORIES, ids=lambda memory: type(memory).__name__)
def test_a_demonstration_and_its_evaluation_have_the_same_readings(
    memory, demonstrations, replaying
):
    facts = demonstrations.privileged.facts(0)
    actions = demonstrations.episode(0, [ACTION])[ACTION]
    policy, simulation = replaying(actions, EVERY, Needs(memory=True)), Simulation()
    variation = Variation.from_dict(facts["variation"])
    simulation.reset(facts["rule"], facts["safe"], facts["seed"], variation)
    agent = PolicyAgent(policy, memory, EVERY)
    agent.log = AgentLog()
    agent.reset(simulation)
    for _ in actions:
        simulation.step(agent.act(simulation))
    readings = readings_of(memory_input(demonstrations, 0, memory.input), memory)
    assert len(policy.seen) == -(-len(actions) // EVERY) > 10
    for number, seen in enumerate(policy.seen):
        assert np.array_equal(seen.memory.values, readings.values[number * EVERY])
        assert np.array_equal(seen.memory.mask, readings.mask[number * EVERY])
    last = policy.seen[-1].memory
    assert last.mask.sum() >= 2
    if memory.privileged:
        assert last.values[last.mask][:2].tolist() == [1, 3], "the knob, then the handle"


class Listening:
    """Rests, and keeps the memory readings that it receives."""

    needs = Needs(memory=True)

    def __init__(self):
        self.readings = []

    def reset(self):
        self.readings.clear()

    def infer(self, observation):
        self.readings.append(observation.memory)
        return np.tile(HOME_ACTION.astype(np.float32), (50, 1))
