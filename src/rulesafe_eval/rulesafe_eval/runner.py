"""One episode, from its seed to its line in results.jsonl. Executed by worker processes."""

import io
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner_node.reach import DRAWS, OutOfReach, reachable_variation
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_demos.attempts import Attempt
from rulesafe_eval.agents import load_agent
from rulesafe_eval.diagnosis import Diagnosis
from rulesafe_eval.disturbances import disturbances
from rulesafe_eval.interference import another_episode, interfere
from rulesafe_eval.policies import ANOTHER, PolicyError
from rulesafe_eval.request import Setup
from rulesafe_locks.locks import Rule
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episode import EpisodeRecord
from rulesafe_sim.randomisation import load_split
from rulesafe_sim.runtime import Agent, Runtime
from rulesafe_sim.simulation import Simulation
from rulesafe_sim.variation import Variation
from vq_memory_node.memory import Input

simulation_of = cache(lambda renders: Simulation(render=renders))
"""This process's simulation, with or without rendering."""

agent_of = cache(lambda setup: load_agent(setup)[0])
"""This process's agent, so that a checkpoint is loaded only once."""


def perform(directory: Path, setup: Setup, episode: Attempt) -> dict[str, Any]:
    """Run an episode, store its actions below `directory`, return its line for results.jsonl."""
    return play(agent_of(setup), setup, episode, directory)


def play(agent: Agent, setup: Setup, episode: Attempt, directory: Path) -> dict[str, Any]:
    """Run an episode with a given agent; otherwise the same as `perform`.

    The safe is placed at the first of the seed's poses that the arm can reach, so that all agents
    have the same episode and it can be solved.

    Raises:
        RuleSafeError: if the disk is full, or the policy fails; with the policy's traceback.
    """
    began, spent = time.perf_counter(), time.process_time()
    rule = load_rule(episode.source)
    try:
        variation, resampled = reachable_variation(
            episode.safe, rule, load_split(episode.split).randomisation, episode.seed
        )
    except OutOfReach as error:
        return line_out_of_reach(episode, rule, str(error)) | {"timing": {}}
    placing = time.perf_counter() - began
    agent.replacement_inputs = Agent.replacement_inputs
    if setup.control == ANOTHER:
        simulation = simulation_of(agent.renders)
        agent.replacement_inputs = another_episode(
            simulation, rule, episode.safe, episode.seed, variation, agent.memory_input
        )
    line, actions, inferences = execute(agent, setup, episode, rule, variation)
    _keep(actions_file(directory, episode.rule, episode.number), actions)
    timing = {
        "wall_seconds": round(time.perf_counter() - began, 3),
        "cpu_seconds": round(time.process_time() - spent, 3),
        "placing_seconds": round(placing, 3),
        "inference_seconds": [round(seconds, 5) for seconds in inferences],
    }
    return line | {"resampled": resampled, "timing": timing}


def line_out_of_reach(episode: Attempt, rule: Rule, reason: str) -> dict[str, Any]:
    """Return the line of an episode whose safe is out of reach at all sampled poses."""
    plan = tuple(shortest_plan(rule))
    record = EpisodeRecord(rule.id, episode.safe, episode.seed, plan, reason=reason)
    return _line(episode, Diagnosis().facts(record)) | {"resampled": DRAWS}


def _line(episode: Attempt, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the line of an episode for results.jsonl."""
    return {"rule": episode.rule, "number": episode.number} | facts | {"safe": episode.safe}


def execute(
    agent: Agent, setup: Setup, episode: Attempt, rule: Rule, variation: Variation
) -> tuple[dict[str, Any], list[NDArray], list[float]]:
    """Run an episode in a variation; return its line for results.jsonl, the actions, each (13,)
    rad, and the durations of the inferences, s.

    Raises:
        RuleSafeError: if the policy fails; with the policy's traceback.
    """
    diagnosis, simulation = Diagnosis(), simulation_of(agent.renders)
    arguments = simulation, setup, rule, episode, variation
    agent.earlier_inputs, events = start(*arguments, agent.memory_input)
    disturbed = disturbances(setup, rule, episode.seed)
    limit = setup.time_limit(rule, sum(each.extra for each in disturbed))
    runtime = Runtime(simulation, limit, [diagnosis, *disturbed])
    try:
        record = runtime.run(agent)
    except PolicyError as error:
        raise RuleSafeError(
            f"the policy {setup.policy} raised an exception\n{error.trace}\n"
            f"policy {setup.policy} failed at frame {error.frame} of {episode}: fix the policy and "
            "run the same command to resume with this episode"
        ) from None
    line = _line(episode, diagnosis.facts(record))
    for each in disturbed:
        line |= each.facts()
    if setup.interference:
        line["interference"] = events
    return line, diagnosis.actions, record.log.inference_seconds


def start(
    simulation: Simulation,
    setup: Setup,
    rule: Rule,
    episode: Attempt,
    variation: Variation,
    kind: Input = "positions",
) -> tuple[NDArray[np.float32], list[str]]:
    """Reset the simulation; return the input of a memory at each frame, by default joint positions
    (N, 13), rad, and the events before the episode, which are empty without interference."""
    arguments = rule, episode.safe, episode.seed, variation
    if setup.interference:
        return interfere(simulation, *arguments, kind)
    simulation.reset(*arguments)
    return Agent.earlier_inputs, []


def actions_file(directory: Path, rule: str, number: int) -> Path:
    """Return the path of an episode's actions (N, 13) float32, from which its video is made."""
    return directory / "actions" / rule / f"{number:06d}.npy"


def _keep(path: Path, actions: Sequence[NDArray]) -> None:
    content = io.BytesIO()
    np.save(content, np.array(actions, np.float32))
    write_atomically(path, content.getvalue())
