"""The expert as an agent in the same process as the simulation. Example::

simulation = Simulation()
simulation.reset("rule_001", "safe_03", seed=0)
record = run_expert(simulation)
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf

from numpy.typing import NDArray

from planner_node.expert import Expert, ExpertConfig, with_speed
from planner_node.moves import ExpertObservation
from rulesafe_sim.episode import AgentError, EpisodeRecord
from rulesafe_sim.runtime import Agent, Runtime, Subscriber
from rulesafe_sim.simulation import Simulation

Chooser = Callable[[Simulation], Sequence[str]]
"""Function that returns the next events such as "knob+", in order; empty once the door is open."""


def observe(simulation: Simulation) -> ExpertObservation:
    """Return the expert's observation of a simulation, which includes privileged state."""
    state = simulation.state()
    positions = state.action_positions
    return ExpertObservation(
        arm=positions[:7],
        hand=positions[7:],
        part_positions=state.part_positions,
        part_open=state.part_open,
        pose_safe_in_pelvis=state.pose_safe_in_pelvis,
        remaining=tuple(simulation.progress.remaining),
        contact_forces=state.contact_forces,
    )


def remaining(simulation: Simulation) -> Sequence[str]:
    """Return the shortest sequence of events that opens the door, from the true lock state."""
    return simulation.progress.remaining


class ExpertAgent(Agent):
    """Carries out the events that a chooser returns, with the motions of the expert.

    Args:
        new_chooser: returns a new chooser for each episode.
        time_limit: simulated time, s, after which no further chunk is started.
    """

    def __init__(
        self,
        new_chooser: Callable[[], Chooser] = lambda: remaining,
        config: ExpertConfig = ExpertConfig(),
        time_limit: float = inf,
    ):
        self._new_chooser, self._config, self._time_limit = new_chooser, config, time_limit

    def reset(self, simulation: Simulation) -> None:
        config = with_speed(self._config, simulation.variation.speed)
        self._choose = self._new_chooser()
        self._expert = Expert(simulation.safe, config=config, misses_seed=simulation.seed)
        self.log = self._expert.log
        self._advance = self._expert.begin
        self._actions: Iterator[NDArray] = iter(())

    def act(self, simulation: Simulation) -> NDArray | None:
        action = next(self._actions, None)
        if action is None:
            chosen = tuple(self._choose(simulation))
            chunk = self._advance(replace(observe(simulation), remaining=chosen))
            self._advance = self._expert.next_chunk
            self.activity = self._expert.activity
            if chunk is None:
                return None
            if simulation.time >= self._time_limit:
                raise AgentError(f"time limit of {self._time_limit:g} s")
            self._actions = iter(chunk)
            action = next(self._actions)
        return action


def run_expert(
    simulation: Simulation,
    config: ExpertConfig = ExpertConfig(),
    time_limit: float = 300.0,
    subscribers: Sequence[Subscriber] = (),
) -> EpisodeRecord:
    """Let the expert open the safe of a simulation that has just been reset.

    Args:
        simulation: reset with a rule and a safe.
        config: configuration of the expert.
        time_limit: simulated time, s.
        subscribers: called after each frame.
    """
    agent = ExpertAgent(config=config, time_limit=time_limit)
    return Runtime(simulation, subscribers=subscribers).run(agent, stop=False)
