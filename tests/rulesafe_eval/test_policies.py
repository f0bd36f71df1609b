import shutil
from dataclasses import replace

import numpy as np
import pytest

from policy_node.checkpoints import find
from policy_node.policy import CHUNK, Needs
from rulesafe_core.chunks import EXECUTORS
from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.agents import absolute, facts_of, load_agent
from rulesafe_eval.policies import PolicyAgent, SkillsAgent
from rulesafe_eval.request import Setup
from rulesafe_eval.runner import EpisodeRunner
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episode import AgentLog
from rulesafe_sim.observer import Observer
from rulesafe_sim.runtime import Runtime
from rulesafe_sim.simulation import Simulation
from vq_memory_node.memory import NoMemory, RawMemory
from vq_memory_node.rolling import readings_of


class HoldStill:
    """Stays where it is."""

    needs = Needs()

    def reset(self):
        pass

    def infer(self, observation):
        return np.repeat(observation.joints[-1:], CHUNK, axis=0)


@pytest.mark.parametrize("execute", [1, 25, 50])
@pytest.mark.episode
def test_a_policy_that_does_what_the_expert_did_ends_as_it_did(
    opened, replaying, execute, tmp_path
):
    request, line, actions = opened
    policy = replaying(actions, execute)
    episode = request.episode("rule_002", 0)
    played = EpisodeRunner(request.setup).play(
        PolicyAgent(policy, NoMemory(), execute), tmp_path, episode
    )
    assert played["opened"]
    assert played["state_digest"] == line["state_digest"]
    assert policy.asked == played["inferences"] == -(-len(actions) // execute)
    assert len(played["timing"]["inference_seconds"]) == policy.asked


def test_chunks_that_agree_are_blended_into_the_same(opened, replaying, tmp_path):
    request, line, actions = opened
    agent = PolicyAgent(replaying(actions, 25), NoMemory(), 25, "blended")
    played = EpisodeRunner(request.setup).play(agent, tmp_path, request.episode("rule_002", 0))
    assert played["opened"]
    assert abs(played["frames"] - line["frames"]) <= 1
    assert set(EXECUTORS) >= {"blended", "newest"}


def test_skills_get_the_next_event_at_once(monkeypatch):
    """Here the events are those of a stub, 5 frames apart from a chunk's end."""
    simulation, skills = Simulation(), HoldStill()
    simulation.reset("rule_002", "safe_02", 0)
    agent, remaining = SkillsAgent(skills, NoMemory(), 12), ["knob+", "door+"]
    monkeypatch.setattr(type(simulation.progress), "remaining", property(lambda _: remaining))
    agent.log = AgentLog()
    agent.reset(simulation)
    skills.wanted, wanted = None, []
    for frame in range(50):
        if frame in (17, 40):
            remaining.pop(0)
        simulation.step(agent.act(simulation))
        wanted.append(skills.wanted)
    assert wanted == [0] * 17 + [4] * 33, "the last one remains at the end"
    inferences = [0, 12, 17, 29, 41]
    assert len(agent.log.inference_seconds) == len(inferences), "a new subtask is inferred at once"


def test_a_policy_sees_the_last_frames_and_the_memory_of_all(opened, replaying, tmp_path):
    request, _, actions = opened
    policy = replaying(actions, 20, Needs(frames=3, instruction=True, memory=True))
    memory = RawMemory(5)
    agent = PolicyAgent(policy, memory, 20)
    simulation = Simulation()
    EpisodeRunner(request.setup).play(agent, tmp_path, request.episode("rule_002", 0))
    simulation.reset("rule_002", "safe_02", 0)
    rows = [simulation.state().action_positions.astype(np.float32)]
    for action in actions:
        simulation.step(action)
        rows.append(simulation.state().action_positions.astype(np.float32))
    readings = readings_of(np.array(rows), RawMemory(5))
    for asked, seen in enumerate(policy.seen):
        at = 20 * asked
        window = [rows[max(0, frame)] for frame in (at - 2, at - 1, at)]
        assert np.array_equal(seen.joints, window)
        assert np.array_equal(seen.memory.values, readings[at].values)
        assert np.array_equal(seen.memory.mask, readings[at].mask)
        assert seen.instruction == simulation.rule.description
        assert seen.points is None and not seen.images


def test_clouds_and_pictures_are_those_of_the_frames_that_are_shown(opened, replaying, tmp_path):
    request, _, actions = opened
    policy = replaying(actions, 6, Needs(frames=2, points=64, images=True))
    episode = replace(request.episode("rule_002", 0), time_limit=1.0)
    agent = PolicyAgent(policy, NoMemory(), 6)
    played = EpisodeRunner(request.setup).play(agent, tmp_path, episode)
    assert (played["frames"], played["cause"]) == (10, "not_touched")
    simulation = Simulation()
    simulation.reset("rule_002", "safe_02", 0)
    observer = Observer(simulation)
    keys = ("points", "head", "front")
    shown = [observer.observe(keys)]
    for action in actions[:6]:
        simulation.step(action)
        shown.append(observer.observe(keys))
    first, second = policy.seen
    for seen, frames in ((first, (0, 0)), (second, (5, 6))):
        clouds = [shown[frame]["points"][:64] for frame in frames]
        assert np.array_equal(seen.points, clouds)
        assert np.array_equal(seen.images["head"], shown[frames[-1]]["head"])
        assert np.array_equal(seen.images["front"], shown[frames[-1]]["front"])


def test_who_never_moves_touches_nothing_and_ends_with_its_time(request_for, tmp_path):
    episode = request_for(step_seconds=2.0).episode("rule_002", 0)
    agent = PolicyAgent(HoldStill(), NoMemory(), 25)
    played = EpisodeRunner(Setup("still")).play(agent, tmp_path, episode)
    assert (played["opened"], played["steps_done"], played["frames"]) == (False, 0, 40)
    assert (played["cause"], played["due"]) == ("not_touched", "knob+")
    assert (played["failed_step"], played["failed_event"]) == (1, "knob+")
    assert "time limit of 4 s" in played["reason"]
    assert not played["events"] and played["touched_last"] == ""


@pytest.mark.parametrize(
    ("answer", "gave"),
    [
        (np.zeros(13), r"\(13,\)$"),
        (np.full((CHUNK, 13), np.nan), r"\(50, 13\), 650 of 650 not finite"),
        (None, "None"),
        ([[0.0], [0.0, 1.0]], "a list that is not an array"),
    ],
)
def test_an_answer_that_is_no_chunk_is_refused_in_one_line(answer, gave, request_for, tmp_path):
    policy = HoldStill()
    policy.infer = lambda observation: answer
    episode = request_for().episode("rule_002", 0)
    with pytest.raises(
        RuleSafeError, match=rf"must return .*\(50, 13\).*, rad; it returned {gave}"
    ):
        EpisodeRunner(Setup("odd")).play(PolicyAgent(policy, NoMemory(), 25), tmp_path, episode)


def test_a_policy_that_raises_is_shown_where_it_did_and_nothing_of_ours(request_for, tmp_path):
    class Broken(HoldStill):
        asked = 0

        def infer(self, observation):
            self.asked += 1
            return self.look() if self.asked == 3 else super().infer(observation)

        def look(self):
            raise ValueError("no such thing")

    request = request_for(policy="mine:Broken")
    agent = PolicyAgent(Broken(), NoMemory(), 12)
    with pytest.raises(RuleSafeError) as raised:
        EpisodeRunner(request.setup).play(agent, tmp_path, request.episode("rule_002", 0))
    first, *trace, error, last = str(raised.value).splitlines()
    assert "mine:Broken" in first and error == "ValueError: no such thing"
    places = [line for line in trace if line.lstrip().startswith("File ")]
    assert [line.split()[-1] for line in places] == ["infer", "look"]
    assert all(f'"{__file__}"' in line for line in places)
    assert "mine:Broken failed at frame 24 of rule_002 episode 0 (safe_02, seed 0): " in last
    assert "run the same command again" in last


@pytest.mark.parametrize("length", ["short", "long"])
def test_the_instruction_has_the_length_that_the_policy_needs(length):
    """Also that of a lock outside of all sets of locks."""
    received = set()

    class Instructed(HoldStill):
        needs = Needs(instruction=True, instruction_length=length)

        def infer(self, observation):
            received.add(observation.instruction)
            return super().infer(observation)

    texts = {"description": "Open it as you like.", "short_instruction": "Open it."}
    rule, simulation = replace(load_rule("rule_001"), **texts), Simulation()
    simulation.reset(rule, "safe_02", 0)
    Runtime(simulation, 0.3).run(PolicyAgent(Instructed(), NoMemory(), 1))
    assert received == {rule.instruction(length)}


def test_an_agent_of_an_installed_package_acts(installed, request_for, tmp_path):
    source = """
from rulesafe_sim.runtime import Agent


class Still(Agent):
    def act(self, simulation):
        return simulation.command
"""
    installed("still_agent", source, "[rulesafe.agents]\nstill = still_agent:Still\n")
    for name in ("still", "still_agent:Still"):
        agent, facts = load_agent(Setup(name))
        assert set(facts.pop("files")) == ({"still_agent.py"} if ":" in name else set())
        assert facts == {"kind": "agent", "name": name, "privileged": True}
    episode = request_for(step_seconds=1.0).episode("rule_002", 0)
    played = EpisodeRunner(Setup("still")).play(agent, tmp_path, episode)
    assert (played["opened"], played["frames"], played["cause"]) == (False, 20, "not_touched")
    with pytest.raises(RuleSafeError, match=r"valid: expert, .*oracle, still, "):
        load_agent(Setup("no_such"))


def test_a_folder_may_have_a_colon_and_its_files_are_known_all_the_same(tmp_path):
    folder = tmp_path / "at 10:20"
    shutil.copytree(find("dp3_rule_001"), folder)
    facts = facts_of(str(folder))
    assert facts["family"] == "dp3" and set(facts["files"]) == {
        "policy.json",
        "policy.safetensors",
    }


def test_a_class_is_known_by_the_file_of_its_module(tmp_path, monkeypatch):
    """Not imported: in a ROS graph, another machine may have it."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine.py").write_text("raise ValueError")
    known = facts_of("mine:Policy")
    assert known["kind"] == "class" and set(known["files"]) == {"mine.py"}
    (tmp_path / "mine.py").write_text("raise TypeError")
    assert facts_of("mine:Policy")["files"] != known["files"]
    for absent in ("no_module:Policy", "no_module.part:Policy"):
        assert facts_of(absent)["files"] == {}


def test_an_oracle_is_meant_where_a_folder_has_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("expert", "mine"):
        (tmp_path / name).mkdir()
    assert [absolute("expert"), absolute("mine")] == ["expert", str(tmp_path / "mine")]


@pytest.mark.parametrize("execute", [0, CHUNK + 1])
def test_no_more_rows_are_executed_than_a_chunk_has(execute):
    with pytest.raises(RuleSafeError, match=f"not {execute}"):
        PolicyAgent(HoldStill(), NoMemory(), execute)
