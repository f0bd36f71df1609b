"""An agent: the random baseline."""

import numpy as np

from rulesafe_sim.runtime import Agent
from rulesafe_sim.simulation import LOWER, UPPER


class RandomAgent(Agent):
    """Changes each joint's target at random, by 0.02 rad in a frame."""

    def reset(self, simulation):
        self._random = np.random.default_rng(0)

    def act(self, simulation):
        """Return the targets (13,) of the next frame, rad."""
        change = self._random.normal(0.0, 0.02, len(LOWER))
        return np.clip(simulation.command + change, LOWER, UPPER)
