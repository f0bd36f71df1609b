"""The loop of an episode in process: an agent acts, the simulation executes, subscribers follow.

Films, recordings, statistics and progress bars are subscribers. Example::

    simulation.reset("rule_001", "safe_03", seed=0)
    record = Runtime(simulation, subscribers=[film]).run(agent)
"""

from collections.abc import Callable, Iterable, Sequence
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_sim.episode import Activity, AgentLog, EpisodeRecord, EpisodeTracker, Stuck
from rulesafe_sim.simulation import Simulation

Subscriber = Callable[[Simulation, NDArray | None, Activity], None]
"""Called after the reset, and after each frame with the action (13,) that led there and what it
was for."""


class Agent:
    """Base of what drives the robot through one episode after another, in process.

    Attributes:
        renders: whether it needs a simulation that renders.
        activity: what the last action is for.
        log: of the present episode.
    """

    renders = False
    activity = Activity()
    log: AgentLog

    def reset(self, simulation: Simulation) -> None:
        """Begin an episode in a simulation that was just reset."""

    def act(self, simulation: Simulation) -> ArrayLike | None:
        """Return the targets (13,) of the next frame, rad, or None where nothing is left to do.

        Raises:
            Stuck: the agent cannot go on.
        """
        raise NotImplementedError


class Playback(Agent):
    """Repeats actions, each (13,)."""

    def __init__(self, actions: Iterable[NDArray]):
        self._actions = iter(actions)

    def act(self, simulation: Simulation) -> NDArray | None:
        return next(self._actions, None)


class Runtime:
    """One episode in a simulation that was just reset; `time_limit` in simulated s."""

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
        """Let the agent act until the episode has ended, it is stuck, or nothing is left to do.

        Args:
            agent: is reset first.
            stop: end as soon as the door is open or time is up. Otherwise the agent completes what
                it does, as in demonstrations.
        """
        agent.log = AgentLog()
        agent.reset(self.simulation)
        reason = "it has nothing left to do, and the door is not open"
        try:
            while not (stop and self.tracker.record):
                action = agent.act(self.simulation)
                if action is None:
                    break
                self.step(action, agent.activity)
        except Stuck as error:
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
