"""The in-process episode loop: an agent acts, the simulation executes, subscribers are notified.

Videos, recordings, statistics and progress bars are subscribers. Example::

    simulation.reset("rule_001", "safe_03", seed=0)
    record = Runtime(simulation, subscribers=[video]).run(agent)
"""

from collections.abc import Callable, Iterable, Sequence
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_sim.episode import Activity, AgentError, AgentLog, EpisodeRecord, EpisodeTracker
from rulesafe_sim.simulation import Simulation

Subscriber = Callable[[Simulation, NDArray | None, Activity], None]
"""Function that is called after the reset with None, and after each frame with the executed
action (13,); the last argument is the agent's activity."""


class Agent:
    """Base class of agents that control the simulated robot in process.

    Attributes:
        activity: activity of the last action.
        log: log of the current episode.
    """

    activity = Activity()
    log: AgentLog

    def reset(self, simulation: Simulation) -> None:
        """Start an episode in a simulation that was just reset."""

    def act(self, simulation: Simulation) -> ArrayLike | None:
        """Return the targets (13,) of the next frame, rad, or None if the agent has finished.

        Raises:
            AgentError: the agent cannot continue.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Release what the agent holds, such as a connection."""


class Playback(Agent):
    """Replays actions, each (13,)."""

    def __init__(self, actions: Iterable[NDArray]):
        self._actions = iter(actions)

    def act(self, simulation: Simulation) -> NDArray | None:
        return next(self._actions, None)


class Runtime:
    """Runs one episode in a simulation that was just reset; `time_limit` in simulated s."""

    def __init__(
        self,
        simulation: Simulation,
        time_limit: float = inf,
        subscribers: Sequence[Subscriber] = (),
    ):
        self.simulation = simulation
        self.tracker = EpisodeTracker(time_limit)
        self._subscribers = subscribers
        self._notify(None, Activity())

    def run(self, agent: Agent, *, stop: bool = True) -> EpisodeRecord:
        """Run the agent until the episode ends, or the agent is stuck or has finished.

        Args:
            agent: the agent, which is reset first.
            stop: end when the door is open or the time limit is reached. Otherwise the agent
                completes its motion, as in demonstrations.
        """
        agent.log = AgentLog()
        agent.reset(self.simulation)
        reason = "the agent has finished, and the door is not open"
        try:
            while not (stop and self.tracker.record):
                action = agent.act(self.simulation)
                if action is None:
                    break
                self.step(action, agent.activity)
        except AgentError as error:
            reason = str(error)
        if self.tracker.record:
            reason = self.tracker.record.reason
        return self.tracker.end(reason, agent.log)

    def step(self, action: ArrayLike, activity: Activity) -> None:
        """Execute the targets (13,) of one frame, rad, and notify the subscribers."""
        targets = np.array(action, np.float64)
        self.simulation.step(targets)
        self._notify(targets, activity)

    def _notify(self, action: NDArray | None, activity: Activity) -> None:
        self.tracker.update(self.simulation.snapshot())
        for subscriber in self._subscribers:
            subscriber(self.simulation, action, activity)
