"""The Gymnasium environment "RuleSafe-v1": a robot and a safe, actions and observations at 10 Hz.

Example::

    import gymnasium

    import rulesafe_sim.env  # registers RuleSafe-v1

    env = gymnasium.make("RuleSafe-v1", rule="rule_003", safe="safe_07", seed=4)
    observation, info = env.reset()
    observation, reward, terminated, truncated, info = env.step(env.unwrapped.home_action)

`gymnasium.make("rulesafe_sim.env:RuleSafe-v1", ...)` needs no second import.
"""

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.cameras import DEFAULT_CAMERAS, POINTS, CameraSet
from rulesafe_core.cloud import CLOUD_POINTS, Workspace, load_sampler
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_locks.instructions import Length, check_length
from rulesafe_locks.rules import Rule, load_rule
from rulesafe_sim.config import SimulationConfig
from rulesafe_sim.episode import SECONDS_A_STEP, time_limit
from rulesafe_sim.episodes import Episode
from rulesafe_sim.observer import JOINT_KEYS, Observer
from rulesafe_sim.safe import Safe
from rulesafe_sim.safes import load_safe
from rulesafe_sim.seeded_env import SeededEnv
from rulesafe_sim.simulation import HOME_ACTION, LOWER, UPPER, Simulation

Observation = dict[str, NDArray[Any]]
Info = dict[str, Any]

_OPTIONS = ("rule", "safe", "episode")


class RuleSafeEnv(SeededEnv):
    """A robot in front of a safe that opens only after the correct sequence of moves.

    Action (13,), rad: absolute targets of the right arm's and hand's joints, in the order of
    `joints.ACTION_JOINTS`. The command moves to the target linearly within one frame of 0.1 s,
    limited by the joint velocities: a finger (0.5 rad/s) moves 0.05 rad per frame. Targets outside
    the limits are clipped and counted in `info["clipped_actions"]`; NaN raises.

    Observation (see `observations`): `head` and `front` (224, 224, 3) uint8, `points`
    (1024, 6) float32 with x, y, z in the pelvis frame (m) and r, g, b in 0..1, `joint_positions`
    (13,) and `all_joint_positions` (39,) float32, rad.

    Reward: the increase of the process score (docs/rules.md), so that the return of an episode is
    its process score, 1 for an opened door. Terminated when the door is open; truncated at the time
    limit of `episode.time_limit`, which `rulesafe eval` uses too: 20 s for each event of the rule's
    shortest plan.

    `info` is privileged and must not be given to a policy; see `_info` for its keys.

    Args:
        rule: id of a rule in `rules.RULES` or of a generated lock, or the path of its file.
        safe: id of a safe in `safes.SAFES`, or the path of its file.
        seed: seed of the first reset if `reset` gets none; later resets without a seed draw one.
        observations: keys of the observation; None: all.
        render_mode: "rgb_array": `render()` returns all cameras side by side, (224, 448, 3).
        config: rates and contact settings, and the split if `split` is None.
        split: split that a seed samples from: "nominal", "varied", "shifted" or the path of a YAML
            file (docs/safes.md); None: that of `config`.
        sampler: point cloud sampler, a name in `cloud.SAMPLERS`.
        step_seconds: time limit for each event of the rule's shortest plan, s; as in `rulesafe eval
            --step-seconds`.
        instruction: whether `RuleSafeEnv.instruction` is the rule's "long" or "short" text.
        cameras: the cameras (`rulesafe_core.cameras`), each with an observation of its name; the
            first one provides the point cloud.

    Raises:
        RuleSafeError: unknown rule, safe, observation, sampler, split, instruction or option, a NaN
            action, or a `step_seconds` that is not valid.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 (Gymnasium's)

    def __init__(
        self,
        rule: str | Rule = "rule_001",
        safe: str | Safe = "safe_01",
        seed: int | None = 0,
        observations: Sequence[str] | None = None,
        render_mode: str | None = None,
        config: SimulationConfig = SimulationConfig(),
        sampler: str = "farthest",
        split: str | None = None,
        step_seconds: float = SECONDS_A_STEP,
        instruction: Length = "long",
        cameras: CameraSet = DEFAULT_CAMERAS,
    ):
        super().__init__(seed)
        check_length(instruction)
        available = _observation_spaces(cameras)
        for key in observations or ():
            if key not in available:
                raise unknown_name("observation", key, available)
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise unknown_name("render_mode", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._keys = tuple(available if observations is None else observations)
        self._cameras = cameras
        self._rule, self._safe = load_rule(rule), load_safe(safe)
        self._step_seconds, self._length = step_seconds, instruction
        self._time_limit = time_limit(self._rule, step_seconds)
        self._sampler = load_sampler(sampler)
        if split is not None:
            config = replace(config, split=split)
        self.simulation = Simulation(config)
        self._home = HOME_ACTION
        self._observer: Observer | None = None
        self._score = 0.0
        self.action_space = _action_space()
        self.observation_space = spaces.Dict({key: available[key] for key in self._keys})

    @property
    def instruction(self) -> str:
        """The rule in plain English, as given to a policy."""
        return self._rule.instruction(self._length)

    @property
    def home_action(self) -> NDArray[np.float32]:
        """The action (13,), rad, that holds the robot at its pose after the last reset."""
        return self._home.astype(np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Start an episode.

        Args:
            seed: seed of the episode. If None, the first reset uses that of the constructor, and
                later resets draw one from the generator initialised with the last seed.
            options: "rule" and "safe" for this and later episodes; or "episode" (an `Episode` or
                its `to_dict`), which determines this episode, including its seed and time limit.
        """
        episode = self._apply_options(options or {}, seed)
        seed = self.episode_seed(episode.seed if episode else seed)
        self._time_limit = time_limit(self._rule, self._step_seconds)
        variation = None
        if episode:
            self._time_limit, variation = episode.time_limit, episode.fixed()
        self.simulation.reset(self._rule, self._safe, seed, variation)
        self._home = self.simulation.command
        self._variation = pickle.dumps(self.simulation.variation.to_dict())
        self._observer = Observer(self.simulation, self._cameras, sampler=self._sampler)
        self._score = 0.0
        return self._observer.observe(self._keys), self._info()

    def _apply_options(self, options: dict[str, Any], seed: int | None) -> Episode | None:
        """Set rule and safe from the reset options; return their episode, if any."""
        for name in options:
            if name not in _OPTIONS:
                raise unknown_name("reset option", name, _OPTIONS)
        episode = options.get("episode")
        if episode is None:
            rule, safe = options.get("rule", self._rule), options.get("safe", self._safe)
        elif len(options) > 1 or seed is not None:
            raise RuleSafeError("the option episode determines rule, safe and seed: omit them")
        else:
            episode = episode if isinstance(episode, Episode) else Episode.from_dict(episode)
            rule, safe = episode.source, episode.safe
        self._rule, self._safe = load_rule(rule), load_safe(safe)
        return episode

    def step(self, action: ArrayLike) -> tuple[Observation, float, bool, bool, Info]:
        """Simulate one frame of 0.1 s towards the targets (13,), rad."""
        observer = self._require_observer()
        self.simulation.step(action)
        score = self.simulation.progress.process_score
        reward, self._score = score - self._score, score
        observation = observer.observe(self._keys)
        terminated = self.simulation.success
        truncated = not terminated and self.simulation.time >= self._time_limit
        return observation, reward, terminated, truncated, self._info()

    def render(self) -> NDArray[np.uint8] | None:  # type: ignore[override]
        """Return the images of all cameras side by side, front then head (224, 448, 3), or None
        without render mode."""
        if self.render_mode is None:
            return None
        keys = [camera.name for camera in reversed(self._cameras.cameras)]
        views = self._require_observer().observe(keys)
        return np.hstack([views[key] for key in keys])

    def close(self) -> None:
        self._observer = None

    def _require_observer(self) -> Observer:
        if self._observer is None:
            raise RuleSafeError("the environment has no episode yet: call reset() first")
        return self._observer

    def _info(self) -> Info:
        """Return privileged state: dicts by part, scores in 0..1, placement in the pelvis frame."""
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
            # A new object, which the caller may change; pickle is faster than deepcopy.
            "variation": pickle.loads(self._variation),  # placement included
            "phases": dict(state.part_open),  # True = open
            "locked": dict(state.part_locked),  # True = cannot change its phase
            "part_positions": dict(state.part_positions),  # rad, 0 = closed
            "contact_forces": dict(state.contact_forces),  # N, on the robot, see CONTACT_NAMES
            "plan": list(progress.plan),
            "steps_done": progress.steps_done,
            "process_score": progress.process_score,
            "order_free_score": progress.order_free_score,
            "success": simulation.success,
            "is_success": simulation.success,  # the name in LeRobot and Stable-Baselines3
            "clipped_actions": simulation.clipped_actions,
            "time": simulation.time,  # s
            "time_limit": self._time_limit,  # s
        }


def _action_space() -> spaces.Box:
    return spaces.Box(LOWER.astype(np.float32), UPPER.astype(np.float32), dtype=np.float32)


def _positions_space(count: int) -> spaces.Box:
    # Wider than the limits, since a joint in contact can slightly exceed them.
    return spaces.Box(-2 * np.pi, 2 * np.pi, (count,), np.float32)


def _points_space() -> spaces.Box:
    # Includes the origin, since an empty point cloud is filled with zeros.
    workspace = Workspace()
    low = np.array([*np.minimum(workspace.low, 0.0), 0.0, 0.0, 0.0], np.float32)
    high = np.array([*np.maximum(workspace.high, 0.0), 1.0, 1.0, 1.0], np.float32)
    return spaces.Box(np.tile(low, (CLOUD_POINTS, 1)), np.tile(high, (CLOUD_POINTS, 1)))


def _observation_spaces(cameras: CameraSet) -> dict[str, spaces.Space]:
    """Return the space of each observation key, in the order of `Observer.keys`."""
    joints = zip(JOINT_KEYS, (ACTION_JOINTS, ALL_JOINTS), strict=True)
    return {
        **{
            camera.name: spaces.Box(0, 255, (camera.height, camera.width, 3), np.uint8)
            for camera in cameras
        },
        POINTS: _points_space(),
        **{key: _positions_space(len(names)) for key, names in joints},
    }


if "RuleSafe-v1" not in gymnasium.registry:  # `import rulesafe` registers it, too
    gymnasium.register(id="RuleSafe-v1", entry_point="rulesafe_sim.env:RuleSafeEnv")
