"""The Gymnasium environment by its id, `gymnasium.make("RuleSafe-v1")`.

Gymnasium calls `register_envs` itself, as an entry point of the group "gymnasium.envs".
"""

from gymnasium.envs.registration import register

MAX_EPISODE_FRAMES = 1500
"""Length of an episode, in frames of 0.1 s, after which Gymnasium truncates it."""


def register_envs() -> None:
    """Register "RuleSafe-v1" (see `rulesafe_sim.env`)."""
    register(
        id="RuleSafe-v1",
        entry_point="rulesafe_sim.env:RuleSafeEnv",
        max_episode_steps=MAX_EPISODE_FRAMES,
    )
