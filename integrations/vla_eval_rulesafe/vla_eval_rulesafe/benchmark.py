"""The rules of RuleSafe as tasks of vla-eval, in RuleSafe-v1."""

from math import ceil
from typing import Any, ClassVar

import numpy as np
from vla_eval.benchmarks.base import StepBenchmark, StepResult
from vla_eval.specs import IMAGE_RGB, LANGUAGE, DimSpec
from vla_eval.types import Action, EpisodeResult, Observation, Task

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_locks.instructions import EXPORT_LENGTH, Length

SUITE = "rulesafe"
JOINTS = len(ACTION_JOINTS)


class RuleSafeBenchmark(StepBenchmark):
    """Each rule is a task; episode k of a task is episode k of `rulesafe eval`.

    Observation: `images` with `head` and `front`, (224, 224, 3) uint8; `state` (13,) float32, rad;
    `task_description`, the rule in plain English. Action: `actions` (13,), absolute targets in rad
    of the joints of the state, for one step of 0.1 s.

    Args:
        rules: comma-separated rules, as for `rulesafe eval --rules`, or a list of them.
        safes: comma-separated safes that the episodes use in turn, or "all" for those of the split.
        split: "nominal", "varied", "shifted" or the path of a YAML file.
        seed: seed of episode 0; seeds are below 10 000.
        instruction: "short", as in exports, or "long", as in datasets.

    Raises:
        RuleSafeError: unknown rule, safe, split or instruction, or a seed out of range.
    """

    render_backends: ClassVar[frozenset[str]] = frozenset({"cpu"})
    _ALL_RECORD_FIELDS: ClassVar = frozenset({"reward", "done", "success", "process_score"})

    @classmethod
    def configure_render(cls, mode: str) -> dict[str, str]:
        return {}

    def __init__(
        self,
        rules: str | list[str] = "all",
        safes: str = "all",
        split: str = "nominal",
        seed: int = 0,
        instruction: Length = EXPORT_LENGTH,
    ):
        super().__init__()
        from rulesafe_sim.env import RuleSafeEnv
        from rulesafe_sim.episodes import plan_episodes

        names = rules if isinstance(rules, str) else ",".join(rules)
        self._episodes = plan_episodes(names, safes, split, seed=seed)
        self._env = RuleSafeEnv(
            observations=("head", "front", "joint_positions"),
            split=self._episodes.split,
            instruction=instruction,
        )

    def get_tasks(self) -> list[Task]:
        return [{"name": rule, "suite": SUITE} for rule in self._episodes.rules]

    def reset(self, task: Task) -> dict[str, Any]:
        """Start episode `task["episode_idx"]` of the rule `task["name"]`."""
        from planner_node.reach import out_of_reach
        from rulesafe_sim.episodes import place

        episode = place(self._episodes.episode(task["name"], task["episode_idx"]), out_of_reach)
        observation, _ = self._env.reset(options={"episode": episode})
        self._recorder.record_video(_frame(observation))
        return observation

    def step(self, action: Action) -> StepResult:
        targets = np.asarray(action["actions"])
        if targets.shape != (JOINTS,):
            raise RuleSafeError(
                f"actions must be one step of shape ({JOINTS},), got {targets.shape}; a model "
                "server that predicts chunks sets chunk_size"
            )
        observation, reward, terminated, truncated, info = self._env.step(targets)
        done = terminated or truncated
        facts = {name: info[name] for name in ("success", "process_score", "order_free_score")}
        self._recorder.record_video(_frame(observation))
        self._recorder.record_step(
            reward=reward, done=done, success=facts["success"], process_score=facts["process_score"]
        )
        return StepResult(observation, reward, done, facts)

    def make_obs(self, raw_obs: dict[str, Any], task: Task) -> Observation:
        return {
            "images": {"head": raw_obs["head"], "front": raw_obs["front"]},
            "state": raw_obs["joint_positions"],
            "task_description": self._env.instruction,
        }

    def get_step_result(self, step_result: StepResult) -> EpisodeResult:
        return step_result.info

    def get_metric_keys(self) -> dict[str, str]:
        return dict.fromkeys(("success", "process_score", "order_free_score"), "mean")

    def get_metadata(self) -> dict[str, Any]:
        """Return the number of steps of the longest task; RuleSafe-v1 ends shorter ones itself."""
        from rulesafe_locks.rules import load_rule
        from rulesafe_sim.episode import time_limit

        sources = (self._episodes.episode(rule, 0).source for rule in self._episodes.rules)
        seconds = max(time_limit(load_rule(source)) for source in sources)
        return {"max_steps": ceil(seconds * self._env.metadata["render_fps"])}

    def get_hold_action(self, last_action: Action | None) -> Action:
        """Return the last targets; before the first, those of the pose after the reset."""
        return last_action or {"actions": self._env.home_action}

    def get_action_spec(self) -> dict[str, DimSpec]:
        return {"joints": DimSpec("joints", JOINTS, "joint_positions")}

    def get_observation_spec(self) -> dict[str, DimSpec]:
        return {
            "head": IMAGE_RGB,
            "front": IMAGE_RGB,
            "state": DimSpec("state", JOINTS, "joint_positions"),
            "language": LANGUAGE,
        }

    def cleanup(self) -> None:
        self._env.close()


def _frame(observation: dict[str, Any]) -> np.ndarray:
    """Return the image of a video: front and head camera side by side, as `RuleSafeEnv.render`."""
    return np.hstack([observation["front"], observation["head"]])
