"""The Gymnasium environment "RuleSafe-v1": one safe, one rule, actions and observations at 10 Hz.

Example::

    import gymnasium

    import rulesafe_sim.env  # registers RuleSafe-v1

    env = gymnasium.make("RuleSafe-v1", rule="rule_003", safe="safe_07", seed=4)
    observation, info = env.reset()
    observation, reward, terminated, truncated, info = env.step(env.unwrapped.home_action)

`gymnasium.make("rulesafe_sim.env:RuleSafe-v1", ...)` needs no second import.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.cloud import CLOUD_POINTS, Workspace, load_sampler
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_locks.rules import Rule, load_rule
from rulesafe_sim.cameras import FRONT, HEAD
from rulesafe_sim.config import SimulationConfig
from rulesafe_sim.observer import CAMERA_OF, OBSERVATIONS, Observer
from rulesafe_sim.safe import Safe
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import HOME_ACTION, LOWER, UPPER, Simulation
from rulesafe_sim.variation import Variation

MAX_EPISODE_FRAMES = 1500
"""Length of an episode, in frames of 0.1 s, after which Gymnasium truncates it."""

Observation = dict[str, NDArray[Any]]
Info = dict[str, Any]

_OPTIONS = ("rule", "safe", "variation")


class RuleSafeEnv(gymnasium.Env):
    """A robot in front of a safe that opens only after the right moves.

    Action (13,), rad: absolute targets of the right arm's and hand's joints, in the order of
    `joints.ACTION_JOINTS`. The command moves there linearly within one frame of 0.1 s, or as far as
    the joints' velocity limits let it: a finger (0.5 rad/s) goes 0.05 rad a frame. Targets outside
    the limits are clipped and counted in `info["clipped_actions"]`; NaN raises.

    Observation: the chosen ones of `head_rgb` and `front_rgb` (224, 224, 3) uint8, `points`
    (1024, 6) float32 as x, y, z in the pelvis frame (m) and r, g, b in 0..1, `joint_positions`
    (13,) and `all_joint_positions` (39,) float32, rad.

    Reward: the increase of the process score (docs/rules.md), so that the return of an episode is
    its process score, 1 for an opened door. Terminated when the door is open; truncated by the
    time limit of the registration.

    `info` is privileged: no policy may read it. It holds what `_info` lists.

    Args:
        rule: id of the rule, see `rules.RULES`, or of a generated lock, or the path of its file.
        safe: id of the safe or path of its file, see `safes.SAFES`.
        seed: seed of the first reset, unless that names one; later resets without a seed
            draw new ones.
        observations: the keys of the observation; with no picture and no cloud among them (and no
            `render_mode`) the environment needs no Vulkan.
        render_mode: "rgb_array": `render()` gives both cameras side by side, (224, 448, 3).
        config: rates, contact settings, and the split that the next argument may replace.
        split: what a seed varies: "nominal", "train", "shifted" or the path of a YAML file
            (docs/randomisation.md); None: that of the configuration.
        sampler: how the cloud is thinned, a name in `cloud.SAMPLERS`.

    Errors: RuleSafeError for an unknown rule, safe, observation, sampler, split or option and for a
    NaN action.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 (Gymnasium's)

    def __init__(
        self,
        rule: str | Rule = "rule_001",
        safe: str | Safe = "safe_01",
        seed: int | None = 0,
        observations: Sequence[str] = OBSERVATIONS,
        render_mode: str | None = None,
        config: SimulationConfig = SimulationConfig(),
        sampler: str = "farthest",
        split: str | None = None,
    ):
        for key in observations:
            if key not in OBSERVATIONS:
                raise unknown_name("observation", key, OBSERVATIONS)
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise unknown_name("render_mode", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._keys = tuple(observations)
        self._rule, self._safe = load_rule(rule), load_safe(safe)
        self._first_seed = seed
        self._sampler = load_sampler(sampler)
        rendered = render_mode is not None or any(key in CAMERA_OF for key in self._keys)
        if split is not None:
            config = replace(config, split=split)
        self.simulation = Simulation(config, render=rendered)
        self._home = HOME_ACTION
        self._observer: Observer | None = None
        self._score = 0.0
        self.action_space = _action_space()
        self.observation_space = spaces.Dict({key: _SPACES[key] for key in self._keys})

    @property
    def instruction(self) -> str:
        """The rule in plain English, as a policy is told it."""
        return self._rule.description

    @property
    def home_action(self) -> NDArray[np.float32]:
        """The targets (13,) that leave the robot as it stands after the last reset, rad."""
        return self._home.astype(np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Starts an episode; `options` may hold another "rule" and "safe", which then stay, and a
        "variation" for this episode alone (a `Variation` or its `to_dict`), instead of the seed's.

        Without a seed, the first reset takes the constructor's and each later reset draws the next
        from the generator that the last seed began.
        """
        if seed is None:
            seed = self._first_seed
        self._first_seed = None
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(2**31))
        variation = self._switch(options or {})
        self.simulation.reset(self._rule, self._safe, seed, variation)
        self._home = self.simulation.command
        self._observer = Observer(self.simulation, sampler=self._sampler)
        self._score = 0.0
        return self._observer.observe(self._keys), self._info()

    def _switch(self, options: dict[str, Any]) -> Variation | None:
        """Takes over rule and safe; the variation, if there is one."""
        for name in options:
            if name not in _OPTIONS:
                raise unknown_name("reset option", name, _OPTIONS)
        variation = options.get("variation")
        if variation is not None and not isinstance(variation, Variation):
            variation = Variation.from_dict(variation)
        rule, safe = options.get("rule", self._rule), options.get("safe", self._safe)
        self._rule, self._safe = load_rule(rule), load_safe(safe)
        return variation

    def step(self, action: ArrayLike) -> tuple[Observation, float, bool, bool, Info]:
        """One frame of 0.1 s towards the targets (13,), rad."""
        observer = self._observing()
        self.simulation.step(action)
        score = self.simulation.progress.process_score
        reward, self._score = score - self._score, score
        observation = observer.observe(self._keys)
        return observation, reward, self.simulation.success, False, self._info()

    def render(self) -> NDArray[np.uint8] | None:  # type: ignore[override]
        """Front and head camera side by side (224, 448, 3), if the render mode asks for it."""
        if self.render_mode is None:
            return None
        views = self._observing().observe(("front_rgb", "head_rgb"))
        return np.hstack([views["front_rgb"], views["head_rgb"]])

    def close(self) -> None:
        self._observer = None

    def _observing(self) -> Observer:
        if self._observer is None:
            raise RuleSafeError("the environment has no episode yet: call reset() first")
        return self._observer

    def _info(self) -> Info:
        """Privileged facts: dicts by part, scores in 0..1, the safe's placement (pelvis frame)."""
        simulation = self.simulation
        state, progress = simulation.state(), simulation.progress
        return {
            "rule": simulation.rule.id,
            "safe": self._safe.id,
            "seed": simulation.seed,
            "placement": {
                "xyz": np.array(simulation.placement.xyz),  # m
                "yaw": float(simulation.placement.yaw),  # rad
            },
            "split": simulation.split.id,
            "variation": simulation.variation.to_dict(),  # placement included
            "phases": dict(state.part_open),  # True = open
            "locked": dict(state.part_locked),  # True = cannot leave its phase
            "part_positions": dict(state.part_positions),  # rad, 0 = closed
            "contact_forces": dict(state.contact_forces),  # N, the robot against what it touches
            "plan": list(progress.plan),
            "steps_done": progress.steps_done,
            "process_score": progress.process_score,
            "order_free_score": progress.order_free_score,
            "success": simulation.success,
            "clipped_actions": simulation.clipped_actions,
            "time": simulation.time,  # s
        }


def _action_space() -> spaces.Box:
    # Rounded to single precision towards the inside, so that no sample is out of the limits.
    low, high = LOWER.astype(np.float32), UPPER.astype(np.float32)
    low = np.where(low < LOWER, np.nextafter(low, np.float32(np.inf)), low)
    high = np.where(high > UPPER, np.nextafter(high, np.float32(-np.inf)), high)
    return spaces.Box(low, high, dtype=np.float32)


def _positions_space(count: int) -> spaces.Box:
    # Wider than the limits: in contact a joint can pass its limit by a little.
    return spaces.Box(-2 * np.pi, 2 * np.pi, (count,), np.float32)


def _points_space() -> spaces.Box:
    # The origin belongs to it: a cloud of nothing is all zeros.
    workspace = Workspace()
    low = np.array([*np.minimum(workspace.low, 0.0), 0.0, 0.0, 0.0], np.float32)
    high = np.array([*np.maximum(workspace.high, 0.0), 1.0, 1.0, 1.0], np.float32)
    return spaces.Box(np.tile(low, (CLOUD_POINTS, 1)), np.tile(high, (CLOUD_POINTS, 1)))


_SPACES: dict[str, spaces.Space] = {
    "head_rgb": spaces.Box(0, 255, (HEAD.height, HEAD.width, 3), np.uint8),
    "front_rgb": spaces.Box(0, 255, (FRONT.height, FRONT.width, 3), np.uint8),
    "points": _points_space(),
    "joint_positions": _positions_space(len(ACTION_JOINTS)),
    "all_joint_positions": _positions_space(len(ALL_JOINTS)),
}


gymnasium.register(
    id="RuleSafe-v1",
    entry_point="rulesafe_sim.env:RuleSafeEnv",
    max_episode_steps=MAX_EPISODE_FRAMES,
)
