"""Agents for comparison, which choose moves without memory of the lock and make them with the
motions of the expert: `rulesafe eval --policy rulesafe_studies.reading.agents:Cycle`."""

from collections.abc import Sequence
from functools import cache

from numpy.typing import NDArray

from planner_node.episode import ExpertAgent
from planner_node.expert import ExpertConfig
from rulesafe_reader.parser import load_parser
from rulesafe_reader.reader import Observed, Reader
from rulesafe_sim.episode import AgentError
from rulesafe_sim.simulation import Simulation
from rulesafe_studies.reading.moves import Agent, blind, cycling, planned
from rulesafe_studies.reading.moves import reading as following

ATTEMPTS = 2
"""Attempts of the expert at a move before the agent regards the part as locked."""


class MoveAgent(ExpertAgent):
    """Makes the moves of an agent of `moves`, which learns whether each happened."""

    def __init__(self) -> None:
        super().__init__(lambda: self._next, ExpertConfig(attempts=ATTEMPTS))

    def agent(self, simulation: Simulation) -> Agent:
        """Return the agent of an episode."""
        raise NotImplementedError

    def reset(self, simulation: Simulation) -> None:
        super().reset(simulation)
        self._agent, self._history = self.agent(simulation), list[Observed]()
        self._event = ""

    def act(self, simulation: Simulation) -> NDArray | None:
        try:
            return super().act(simulation)
        except AgentError:
            if not self._event:
                raise
            self._history.append(Observed(self._event, False))
            self._event = ""
            log = self.log
            super().reset(simulation)
            self.log = log
            return self.act(simulation)

    def _next(self, simulation: Simulation) -> Sequence[str]:
        """Return the event that the agent chooses, until the part has moved."""
        phases = simulation.progress.state.phases
        if self._event:
            if getattr(phases, self._event[:-1]) != self._event.endswith("+"):
                return (self._event,)
            self._history.append(Observed(self._event))
        self._event = "" if phases.door else self._agent(self._history)
        return (self._event,) if self._event else ()


class Cycle(MoveAgent):
    """The cycle of moves that opens most locks of sampled_train."""

    chosen_on = "sampled_train"

    def agent(self, simulation: Simulation) -> Agent:
        return cycling(blind(self.chosen_on)[0])


class CycleOfTwenty(Cycle):
    """The cycle of moves that opens most of the twenty rules, chosen on these themselves."""

    chosen_on = "all"


class FrequentPlan(MoveAgent):
    """The most frequent shortest plan of sampled_train."""

    def agent(self, simulation: Simulation) -> Agent:
        return planned(blind()[1])


class ReaderWithExpert(MoveAgent):
    """The reader, with the motions of the expert."""

    def agent(self, simulation: Simulation) -> Agent:
        return following(_shipped_reader(), simulation.rule.description)


@cache
def _shipped_reader() -> Reader:
    return Reader(load_parser())
