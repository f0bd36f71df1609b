"""`python -m rulesafe_studies eval`: evaluations with changed memories and disturbed episodes.

The public interface of `rulesafe_eval` runs them: `StudyRunner` changes the agent and the episodes.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import tyro
from numpy.typing import NDArray

from policy_node.policy import Policy
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.run_folder import results_folder
from rulesafe_eval.agents import load_agent
from rulesafe_eval.conclusion import conclude
from rulesafe_eval.conditions import Conditions
from rulesafe_eval.policies import PolicyAgent
from rulesafe_eval.request import EXECUTE, EXECUTION, Setup
from rulesafe_eval.results import evaluate as run_episodes
from rulesafe_eval.runner import EpisodeRunner
from rulesafe_locks.locks import Rule
from rulesafe_sim.episodes import Episode
from rulesafe_sim.runtime import Agent
from rulesafe_sim.simulation import Simulation
from rulesafe_studies.disturbances import TurnBack, recovery, recovery_text
from rulesafe_studies.interference import another_episode, interfere
from rulesafe_studies.memory_controls import ANOTHER, CHANGES
from rulesafe_studies.speeds import Paced, random_speeds
from vq_memory_node.memory import Memory, Reading

NOTHING = np.zeros((0, 13), np.float32)


class StudyAgent(PolicyAgent):
    """A policy whose memory is changed, contains earlier motions, or is that of another episode.

    Attributes:
        paced: the policy, whose speed can be changed.
        control: one of CONTROLS.
        earlier: inputs (N, 13), rad, or (N, 3) of the memory before the episode.
        replacement: inputs that the memory receives frame by frame in place of the present ones,
            the last one repeatedly; empty: the present ones.
    """

    control = "none"
    earlier: NDArray[np.float32] = NOTHING
    replacement: NDArray[np.float32] = NOTHING

    def __init__(self, policy: Policy, memory: Memory, execute: int, execution: str = "newest"):
        self.paced = Paced(policy)
        super().__init__(self.paced, memory, execute, execution)

    def reset(self, simulation: Simulation) -> None:
        super().reset(simulation)
        self._random = np.random.default_rng(0)
        for observed in self.earlier:
            self.memory.push(observed)

    def observed_input(self, simulation: Simulation) -> NDArray[np.float32]:
        if count := len(self.replacement):
            found: NDArray[np.float32] = self.replacement[min(simulation.frame, count - 1)]
            return found
        return super().observed_input(simulation)

    def read_memory(self) -> Reading:
        reading = super().read_memory()
        if self.control not in CHANGES:
            return reading
        found = CHANGES[self.control](reading.values[reading.mask], self._random)
        values, mask = np.zeros_like(reading.values), np.zeros_like(reading.mask)
        if len(found):
            values[-len(found) :], mask[-len(found) :] = found, True
        return replace(reading, values=values, mask=mask)


@dataclass(frozen=True)
class StudyRunner(EpisodeRunner):
    """Runs disturbed episodes, or a policy with a changed memory.

    Attributes:
        control: one of CONTROLS.
        turn_back: whether a part is turned back once in an episode, see `TurnBack`.
        interference: whether the robot moves parts before the episode, see `interfere`.
        speeds: smallest and largest speed of the arm, see `Paced`; None: that of the policy.
    """

    control: str = "none"
    turn_back: bool = False
    interference: bool = False
    speeds: tuple[float, float] | None = None

    def load_agent(self) -> Agent:
        agent = load_agent(self.setup, StudyAgent, warn=lambda text: None)[0]
        if isinstance(agent, StudyAgent):
            agent.control = self.control
        return agent

    def start(
        self, simulation: Simulation, agent: Agent, episode: Episode, rule: Rule
    ) -> dict[str, Any]:
        of = rule, episode.safe, episode.seed, episode.fixed()
        studied = agent if isinstance(agent, StudyAgent) else None
        kind = studied.memory.memory.input if studied else "positions"
        if studied and self.control == ANOTHER:
            studied.replacement = another_episode(simulation, *of, kind)
        if studied and self.speeds:
            (studied.paced.speed,) = random_speeds(1, *self.speeds, episode.seed)
            facts = super().start(simulation, agent, episode, rule)
            return facts | {"speed": studied.paced.speed}
        if not self.interference:
            return super().start(simulation, agent, episode, rule)
        earlier, events = interfere(simulation, *of, kind)
        if studied:
            studied.earlier = earlier
        return {"interference": events}

    def disturbances(self, episode: Episode, rule: Rule) -> list[TurnBack]:
        return [TurnBack(rule, episode.seed)] if self.turn_back else []

    @cached_property
    def named(self) -> Setup:
        """The setup with the names of the changes, for the request."""
        low, high = self.speeds or (1.0, 1.0)
        changes = {
            "turned back": self.turn_back,
            "interference": self.interference,
            f"speeds {low:g} to {high:g}": self.speeds is not None,
        }
        return replace(
            self.setup,
            variant="" if self.control == "none" else f"{self.control} memory",
            disturbances=", ".join(name for name, made in changes.items() if made),
        )


def evaluate(
    policy: str,
    out: Path | None = None,
    conditions: Annotated[Conditions, tyro.conf.arg(name="")] = Conditions(),
    execute: int = EXECUTE,
    execution: Literal["newest", "blended"] = EXECUTION,
    memory_control: Literal[
        "none", "shuffled", "delayed", "truncated", "perturbed", "another"
    ] = "none",
    turn_back: bool = False,
    interference: bool = False,
    speeds: tuple[float, float] | None = None,
    films: int = 2,
    workers: int = 1,
    engine: str = "local",
) -> None:
    """Evaluate a policy with a changed memory or in disturbed episodes; else as `rulesafe eval`.

    Args:
        policy, out, conditions, execute, execution, films, workers, engine: As for `rulesafe eval`.
        memory_control: The policy receives its memory permuted in time (shuffled), without the last
            three values (delayed), with only the last ten (truncated), with the middle third
            replaced by random ones of its values (perturbed), or that of an episode of the expert
            under another rule with the safe in the same pose (another).
        turn_back: Turn a part back once in an episode, after the policy has completed a step and
            released the part, and give it time for the additional steps. The success rate of these
            episodes, the recovery, is printed. Rules without a step that can be undone are not
            disturbed.
        interference: Before each episode, let the expert open and close knob and handle, then reset
            the lock. The memory of the policy contains these motions; results.json lists them.
        speeds: Smallest and largest speed of the arm, relative to that of the policy, such as 0.7
            1.4: each episode has a random one, uniform between both. The memory is not changed.
    """
    if conditions.benchmark:
        raise RuleSafeError("an episode of a benchmark is not disturbed, nor is its memory changed")
    if speeds and not Paced.SLOWEST <= speeds[0] <= speeds[1]:
        raise RuleSafeError(
            f"speeds are {speeds[0]:g} and {speeds[1]:g}; valid: from {Paced.SLOWEST:g}, ascending"
        )
    if speeds and interference:
        raise RuleSafeError("speeds and interference cannot be combined")
    folder = results_folder(out)
    name = str(Path(policy).absolute()) if Path(policy).is_dir() else policy
    setup = Setup(name, execute, execution)
    conditions.request(setup, {})  # reports invalid arguments before a policy is loaded
    agent, facts = load_agent(setup, StudyAgent)
    agent.close()  # the workers load it again
    if memory_control != "none" and not (isinstance(agent, StudyAgent) and agent.uses_memory):
        raise RuleSafeError(
            f"memory control {memory_control!r} requires a policy with memory; {policy} has none"
        )
    runner = StudyRunner(setup, memory_control, turn_back, interference, speeds)
    request = conditions.request(runner.named, facts)
    runner = replace(runner, setup=request.setup)
    content = run_episodes(request, folder, workers, engine, runner)
    conclude(folder, content, films, workers, engine, runner)
    if found := recovery(content["episodes"]):
        print(f"recovery: {recovery_text(found)}")
