"""One episode, from its plan to its line in results.jsonl. Executed by worker processes."""

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from planner_node.reach import out_of_reach
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_eval.agents import load_agent
from rulesafe_eval.diagnosis import Diagnosis
from rulesafe_eval.policies import PolicyError
from rulesafe_eval.request import Setup
from rulesafe_locks.locks import Rule
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episode import Activity, EpisodeRecord
from rulesafe_sim.episodes import DRAWS, Episode, OutOfReach, place
from rulesafe_sim.runtime import Agent, Runtime
from rulesafe_sim.simulation import Simulation

process_simulation = cache(Simulation)
"""Returns the simulation of this process."""

agent_of = cache(lambda runner: runner.load_agent())
"""This process's agent, so that a checkpoint is loaded only once."""


class Disturbance(Protocol):
    """A subscriber of one episode that changes what happens in it.

    Attributes:
        extra: number of steps by which the shortest plan becomes longer.
    """

    extra: int

    def __call__(
        self, simulation: Simulation, action: NDArray | None, activity: Activity
    ) -> None: ...

    def facts(self) -> dict[str, Any]:
        """Return further entries of the episode's line in results.jsonl."""
        ...


@dataclass(frozen=True)
class EpisodeRunner:
    """Runs the episodes of an evaluation in a worker process.

    A study that changes the agent or the episodes passes an instance of a subclass to
    `results.evaluate`; `Setup.variant` and `Setup.disturbances` then name the changes. Instances
    are equal if they run the same episodes, and can be pickled.
    """

    setup: Setup

    def load_agent(self) -> Agent:
        """Return the agent. Called once in each worker; the caller of the evaluation has loaded it
        before, with its warnings."""
        return load_agent(self.setup, warn=lambda text: None)[0]

    def start(
        self, simulation: Simulation, agent: Agent, episode: Episode, rule: Rule
    ) -> dict[str, Any]:
        """Reset the simulation; return further entries of the episode's line."""
        simulation.reset(rule, episode.safe, episode.seed, episode.variation)
        return {}

    def disturbances(self, episode: Episode, rule: Rule) -> Sequence[Disturbance]:
        """Return the disturbances of an episode."""
        return ()

    def time_limit(self, episode: Episode, disturbed: Sequence[Disturbance]) -> float:
        """Return the simulated time limit of an episode with disturbances, s."""
        return episode.time_limit + sum(each.extra for each in disturbed) * self.setup.step_seconds

    def run(self, directory: Path, episode: Episode) -> dict[str, Any]:
        """Run an episode with this process's agent: `play`."""
        return self.play(agent_of(self), directory, episode)

    def play(self, agent: Agent, directory: Path, episode: Episode) -> dict[str, Any]:
        """Run an episode, store its actions below `directory`, return its line for results.jsonl.

        The safe is placed at the first of the seed's poses that the arm can reach, so that all
        agents have the same episode and it can be solved.

        Raises:
            RuleSafeError: if the disk is full, or the policy fails; with the policy's traceback.
        """
        began, spent = time.perf_counter(), time.process_time()
        try:
            episode = place(episode, out_of_reach)
        except OutOfReach as error:
            return line_out_of_reach(episode, str(error)) | {"timing": {}}
        placing = time.perf_counter() - began
        line, actions, inferences = self.execute(agent, episode)
        write_actions(directory, episode, actions)
        timing = {
            "wall_seconds": round(time.perf_counter() - began, 3),
            "cpu_seconds": round(time.process_time() - spent, 3),
            "placing_seconds": round(placing, 3),
            "inference_seconds": [round(seconds, 5) for seconds in inferences],
        }
        return line | {"timing": timing}

    def execute(
        self, agent: Agent, episode: Episode
    ) -> tuple[dict[str, Any], list[NDArray], list[float]]:
        """Run an episode whose variation is fixed; return its line for results.jsonl, the actions,
        each (13,) rad, and the durations of the inferences, s.

        Raises:
            RuleSafeError: if the policy fails; with the policy's traceback.
        """
        rule, simulation = load_rule(episode.source), process_simulation()
        more = self.start(simulation, agent, episode, rule)
        diagnosis, disturbed = Diagnosis(), self.disturbances(episode, rule)
        limit = self.time_limit(episode, disturbed)
        runtime = Runtime(simulation, limit, [diagnosis, *disturbed])
        try:
            record = runtime.run(agent)
        except PolicyError as error:
            policy = self.setup.policy
            raise RuleSafeError(
                f"the policy {policy} raised an exception\n{error.trace}\n"
                f"policy {policy} failed at frame {error.frame} of {episode}: fix the policy and "
                "run the same command again (with another --out if it is a class with finished "
                "episodes, since their policy would differ)"
            ) from None
        line = episode.to_dict() | diagnosis.facts(record)
        for each in disturbed:
            line |= each.facts()
        return line | more, diagnosis.actions, record.log.inference_seconds


def line_out_of_reach(episode: Episode, reason: str) -> dict[str, Any]:
    """Return the line of an episode whose safe is out of reach at all sampled poses."""
    plan = tuple(shortest_plan(load_rule(episode.source)))
    record = EpisodeRecord(episode.rule, episode.safe, episode.seed, plan, reason=reason)
    return replace(episode, resampled=DRAWS).to_dict() | Diagnosis().facts(record)


def actions_file(directory: Path, rule: str, number: int) -> Path:
    """Return the path of an episode's actions (N, 13) float32, from which its video is made."""
    return directory / "actions" / rule / f"{number:06d}.npy"


def write_actions(directory: Path, episode: Episode, actions: Sequence[NDArray]) -> None:
    """Store the executed actions, each (13,) rad, of an episode."""
    content = io.BytesIO()
    np.save(content, np.array(actions, np.float32))
    write_atomically(actions_file(directory, *episode.key), content.getvalue())
