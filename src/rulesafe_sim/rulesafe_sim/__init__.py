"""RuleSafe: articulated safes whose doors open only after the right sequence of moves.

Importing the package registers the Gymnasium environment "RuleSafe-v1" (see `rulesafe_sim.env`).
"""

from gymnasium import register

MAX_EPISODE_FRAMES = 1500
"""Length of an episode, in frames of 0.1 s, after which Gymnasium truncates it."""

register(
    id="RuleSafe-v1",
    entry_point="rulesafe_sim.env:RuleSafeEnv",
    max_episode_steps=MAX_EPISODE_FRAMES,
)
