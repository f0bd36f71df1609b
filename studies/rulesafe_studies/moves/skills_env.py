"""The Gymnasium environment "RuleSafe-Skills-v1": RuleSafe-Moves-v1, executed by the robot.

Actions and observations are those of RuleSafe-Moves-v1. The expert plans each move, and the
simulated hand executes it by contact. Example::

    import gymnasium

    import rulesafe_studies.moves.skills_env  # registers RuleSafe-Skills-v1

    env = gymnasium.make("RuleSafe-Skills-v1", rule="rule_003", safe="safe_07")
    observation, info = env.reset(seed=4)
    observation, reward, terminated, truncated, info = env.step(1)  # the handle
    info["failure"]  # "": the handle is open
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from planner_node.episode import observe
from planner_node.expert import Expert, ExpertConfig, with_speed
from planner_node.grasping import Unreachable
from planner_node.motion import NoPath
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.settings import check_positive
from rulesafe_locks.instructions import Length
from rulesafe_locks.locks import PARTS, Rule
from rulesafe_locks.rules import load_rule
from rulesafe_sim.config import SimulationConfig
from rulesafe_sim.episode import AgentError
from rulesafe_sim.safe import Safe
from rulesafe_sim.safes import load_safe
from rulesafe_sim.seeded_env import SeededEnv
from rulesafe_sim.simulation import Simulation
from rulesafe_studies.moves.episodes import (
    MOVES_PER_EVENT,
    SPACES,
    LockSet,
    check_keys,
    check_render_mode,
)

SKILLS = ExpertConfig(attempts=2)
"""Fewer attempts than in demonstrations, since a policy may repeat an action."""

_OPTIONS = ("rule", "safe")


class RuleSafeSkillsEnv(SeededEnv):
    """A robot in front of a safe whose actions are complete moves of a part.

    Actions, observations, reward, termination and truncation are those of
    `env.RuleSafeMovesEnv` with one attempt. A move can fail in the physics, and the phases
    then show what has happened. `info["failure"]` is "" if the part is in its other phase, else

    - "locked": the lock blocks the part, or the door is open already;
    - "unreachable": no pinch is within reach, or none has a collision-free path;
    - "slipped": the fingers lost the part, or the contact force was too large,

    and `info["message"]` describes the last attempt of the hand.

    Args:
        rule: id of a rule or of a generated lock, or path of its .json file.
        safe: id of a safe, or path of its file.
        seed: seed of the first reset if `reset` gets none; later resets without a seed draw one.
        observations: keys of the observation.
        visible: whether `phases` are observed; None: if the safe shows them.
        moves: time limit: number of moves for each event of the shortest plan.
        instruction: "long" or "short".
        split: what varies with the seed, see docs/safes.md; None: that of `config`.
        config: rates and contact settings.
        expert: speeds of the motions, and attempts of the hand at each move.

    Raises:
        RuleSafeError: an unknown rule, safe, observation, instruction, split or option, or a number
            that is not valid.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's)

    def __init__(
        self,
        rule: str | Rule = "rule_001",
        safe: str | Safe = "safe_01",
        seed: int | None = 0,
        observations: Sequence[str] = ("phases",),
        visible: bool | None = None,
        moves: int = MOVES_PER_EVENT,
        instruction: Length = "long",
        split: str | None = None,
        config: SimulationConfig = SimulationConfig(),
        expert: ExpertConfig = SKILLS,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(seed)
        check_keys(observations)
        check_render_mode(render_mode)
        check_positive("moves", moves)
        self._keys, self._visible, self._moves = tuple(observations), visible, moves
        self._length: Length = instruction
        self._locks, self._safe = self._load(rule), load_safe(safe)
        self._expert = expert
        self.simulation = Simulation(config if split is None else replace(config, split=split))
        self._started = False
        self.action_space = spaces.Discrete(len(PARTS))
        self.observation_space = spaces.Dict({key: SPACES[key] for key in self._keys})

    def _load(self, rule: str | Rule) -> LockSet:
        return LockSet(load_rule(rule), self._keys, self._length)

    @property
    def instruction(self) -> str:
        """The instruction of the rule."""
        return self._locks.instructions[0]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode.

        Args:
            seed: seed of the episode. If None, the first reset uses that of the constructor, and
                later resets draw one.
            options: "rule" and "safe" for this and later episodes.
        """
        options = options or {}
        for name in options:
            if name not in _OPTIONS:
                raise unknown_name("reset option", name, _OPTIONS)
        locks = self._load(options["rule"]) if "rule" in options else self._locks
        safe = load_safe(options.get("safe", self._safe))
        self.simulation.reset(locks.tables.rules[0], safe, self.episode_seed(seed))
        self._locks, self._safe = locks, safe
        self._made, self._last, self._started = 0, 0, True
        return self._observe(), self._info("", "")

    def step(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Move a part with the hand, which takes some seconds of simulated time."""
        if not self._started:
            raise RuleSafeError("the environment has no episode yet: call reset() first")
        if not self.action_space.contains(action):
            raise RuleSafeError(f"action is {action!r}; valid: 0 to 2 for {', '.join(PARTS)}")
        simulation, part = self.simulation, PARTS[action]
        score = simulation.progress.process_score
        failure, message = self._move(part)
        self._made += 1
        self._last = 1 + int(action) + (len(PARTS) if failure else 0)
        reward = simulation.progress.process_score - score
        terminated = simulation.success
        truncated = not terminated and self._made >= self._moves * int(self._locks.tables.steps[0])
        return self._observe(), reward, terminated, truncated, self._info(failure, message)

    def _move(self, part: str) -> tuple[str, str]:
        """Let the expert move a part into its other phase; return the failure and its message."""
        simulation = self.simulation
        before = simulation.state()
        was_open, locked = before.part_open[part], before.part_locked[part]
        if part == "door" and was_open:
            return "locked", "the door is open already"
        event = part + ("-" if was_open else "+")
        config = with_speed(self._expert, simulation.variation.speed)
        expert = Expert(simulation.safe, [event], config)
        failure, message = "slipped", ""
        try:
            chunk = expert.begin(observe(simulation))
            while chunk is not None:
                for target in chunk:
                    simulation.step(target)
                chunk = expert.next_chunk(observe(simulation))
        except AgentError as error:
            message = str(error)
            if isinstance(error.__cause__, Unreachable | NoPath):
                failure = "unreachable"
        if simulation.state().part_open[part] != was_open:
            return "", message
        return "locked" if locked else failure, message

    def _observe(self) -> dict[str, Any]:
        return {key: self._observed(key) for key in self._keys}

    def _observed(self, key: str) -> Any:
        if key == "phases":
            is_open = self.simulation.state().part_open
            shown = self._safe.phase_visible if self._visible is None else self._visible
            return np.array([shown and is_open[part] for part in PARTS], np.int8)
        if key == "last_move":
            return np.int64(self._last)
        return self._locks.constant[key][0].copy()

    def _info(self, failure: str, message: str) -> dict[str, Any]:
        """Return privileged facts; see docs/gymnasium.md."""
        simulation, progress = self.simulation, self.simulation.progress
        proof = self._locks.tables.proofs[0]
        return {
            "rule": simulation.rule.id,
            "safe": self._safe.id,
            "seed": simulation.seed,
            "plan": list(progress.plan),
            "bits": proof.bits,
            "bits_blind": proof.bits_blind,
            "memoryless": proof.memoryless,
            "optimal_length": len(progress.plan),
            "optimal_return": 1.0,
            "rejected": bool(failure),
            "failure": failure,
            "message": message,
            "process_score": progress.process_score,
            "order_free_score": progress.order_free_score,
            "success": simulation.success,
            "is_success": simulation.success,
            "time": simulation.time,  # s
        }


gymnasium.register(
    id="RuleSafe-Skills-v1", entry_point="rulesafe_studies.moves.skills_env:RuleSafeSkillsEnv"
)
