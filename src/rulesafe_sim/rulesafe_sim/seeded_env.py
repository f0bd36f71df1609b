"""Base class of the Gymnasium environments whose episodes have a seed."""

import gymnasium


class SeededEnv(gymnasium.Env):
    """An environment with a seed for each episode.

    Args:
        seed: seed of the first episode if `reset` gets none; None: it is drawn.
    """

    def __init__(self, seed: int | None) -> None:
        self._first_seed = seed

    def episode_seed(self, seed: int | None) -> int:
        """Return the seed of the next episode: `seed`, at the first reset that of the constructor,
        or one drawn from the generator, which a given seed initialises."""
        if seed is None:
            seed = self._first_seed
        self._first_seed = None
        super().reset(seed=seed)
        return int(self.np_random.integers(2**31)) if seed is None else seed
