"""The Gymnasium environment "RuleSafe-Moves-v1": the locks alone, without robot and physics.

An action is a complete move of knob, handle or door. The environment needs neither SAPIEN nor
PyTorch. Example::

    import gymnasium

    import rulesafe_studies.moves.env  # registers RuleSafe-Moves-v1

    envs = gymnasium.make_vec("RuleSafe-Moves-v1", num_envs=1024, rules="sampled_train")
    observation, info = envs.reset(seed=0)
    observation, reward, terminated, truncated, info = envs.step(envs.action_space.sample())
"""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_locks.instructions import Length
from rulesafe_locks.locks import PARTS
from rulesafe_studies.moves.episodes import (
    MOVES_PER_EVENT,
    SPACES,
    Episodes,
    Rules,
    check_render_mode,
)
from rulesafe_studies.moves.lock_tables import Ints

Arrays = dict[str, NDArray[Any]]

_OPTIONS = ("rules", "locks")


class RuleSafeMovesEnv(gymnasium.Env):
    """A lock that opens only after the correct sequence of moves.

    Action: 0, 1 or 2, the knob, the handle or the door (the order of `locks.PARTS`): the part moves
    into its other phase. The move of a locked part is rejected and changes nothing.

    Observation, a dictionary with the keys in `observations`:

    - `phases` (3,) int8: 1 if knob, handle, door are open; zeros if not `visible`.
    - `last_move`: 0 at the start of an attempt, 1 to 3 if the last move of knob, handle or door was
      executed, 4 to 6 if it was rejected.
    - `plan` (16,): the shortest plan of the lock, each event as 1 + its index in `locks.EVENTS`,
      then zeros. It does not change during the episode.
    - `instruction` (1024,) uint8: the instruction in UTF-8, then zeros.

    Reward: the increase of the process score (docs/rules.md), as in RuleSafe-v1. Terminated when
    the door is open; truncated after `moves` for each event of the shortest plan. With more than
    one of `attempts`, the lock is then closed and reset instead, until the last attempt.

    `info` is privileged and must not be given to a policy; docs/gymnasium.md describes its keys.

    Args:
        rules: ids, sets and paths of .json files, separated by commas (`lock_sets.expand_rules`),
            or rules. Each episode draws one of them.
        observations: keys of the observation.
        visible: whether `phases` are observed, as on some of the safes.
        moves: time limit of an attempt: number of moves for each event of the shortest plan.
        attempts: number of attempts at the same lock in an episode.
        instruction: "long" or "short".

    Raises:
        RuleSafeError: an unknown rule, observation, instruction or option, a lock that cannot be
            opened, or a number that is not valid.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's)

    def __init__(
        self,
        rules: Rules = "rule_001",
        observations: Sequence[str] = ("phases",),
        visible: bool = True,
        moves: int = MOVES_PER_EVENT,
        attempts: int = 1,
        instruction: Length = "long",
        render_mode: str | None = None,
    ) -> None:
        check_render_mode(render_mode)
        self.render_mode = None
        self._episodes = Episodes(1, rules, observations, visible, moves, attempts, instruction)
        self._started = False
        self.action_space = spaces.Discrete(len(PARTS))
        self.observation_space = spaces.Dict({key: SPACES[key] for key in self._episodes.keys})

    @property
    def instruction(self) -> str:
        """The instruction of the present lock."""
        return self._episodes.locks.instructions[int(self._episodes.batch.lock[0])]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode.

        Args:
            seed: seed of the generator that draws the lock of this and of later episodes.
            options: "rules" for this and later episodes; "locks": the index of this episode's lock,
                in the order of the rules, or a sequence with this index.
        """
        super().reset(seed=seed)
        _start(self._episodes, np.arange(1), self.np_random, options or {})
        self._started = True
        return self._first(self._episodes.observe()), self._info()

    def step(self, action: ArrayLike) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Move a part."""
        if not self._started:
            raise RuleSafeError("the environment has no episode yet: call reset() first")
        reward, terminated, truncated = self._episodes.step(np.reshape(action, -1))
        observation = self._first(self._episodes.observe())
        return observation, float(reward[0]), bool(terminated[0]), bool(truncated[0]), self._info()

    def _info(self) -> dict[str, Any]:
        number = int(self._episodes.batch.lock[0])
        tables = self._episodes.locks.tables
        facts = {key: values[0].item() for key, values in self._episodes.info().items()}
        plan = list(tables.proofs[number].plan)
        return {"rule": tables.rules[number].id, "plan": plan, **facts}

    @staticmethod
    def _first(observation: Arrays) -> dict[str, Any]:
        return {key: values[0] for key, values in observation.items()}


class RuleSafeMovesVectorEnv(VectorEnv):
    """`num_envs` copies of RuleSafe-Moves-v1, moved together by indexing of arrays.

    Arguments, actions, observations and rewards are those of `RuleSafeMovesEnv`. One generator
    draws the locks of all copies, so `reset(seed=...)` takes one integer. Values of `info` are
    arrays of length `num_envs`.

    Args:
        num_envs: number of copies.
        autoreset_mode: as in Gymnasium's vector environments. "NextStep": a copy is reset in the
            step after the end of its episode. "SameStep": at once; `info["final_obs"]` and
            `info["final_info"]` hold the last observation and info, valid where
            `info["_final_obs"]`. "Disabled": by `reset(options={"reset_mask": ...})`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules = "rule_001",
        observations: Sequence[str] = ("phases",),
        visible: bool = True,
        moves: int = MOVES_PER_EVENT,
        attempts: int = 1,
        instruction: Length = "long",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        check_render_mode(render_mode)
        modes = [mode.value for mode in AutoresetMode]
        if not isinstance(autoreset_mode, AutoresetMode) and autoreset_mode not in modes:
            raise unknown_name("autoreset_mode", str(autoreset_mode), modes)
        self._mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self.render_mode = None
        self._episodes = Episodes(
            num_envs, rules, observations, visible, moves, attempts, instruction
        )
        self._ended: NDArray[np.bool_] | None = None
        self.num_envs = num_envs
        self.single_action_space = spaces.Discrete(len(PARTS))
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.single_observation_space = spaces.Dict(
            {key: SPACES[key] for key in self._episodes.keys}
        )
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    @property
    def rules(self) -> tuple[str, ...]:
        """Ids of the locks; `info["lock"]` is an index in them."""
        return self._episodes.locks.ids

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Arrays, Arrays]:
        """Start an episode of each copy, or of those in the mask.

        Args:
            seed: seed of the generator that draws the locks.
            options: "rules" for this and later episodes; "locks": an index for each copy that is
                reset, or one for all; "reset_mask" (num_envs,) bool: the copies to reset.
        """
        options = dict(options or {})
        mask = options.pop("reset_mask", None)
        where = np.arange(self.num_envs) if mask is None else self._masked(mask, options)
        super().reset(seed=seed)
        _start(self._episodes, where, self.np_random, options)
        if mask is None or self._ended is None:
            self._ended = np.zeros(self.num_envs, bool)
        self._ended[where] = False
        return self._episodes.observe(), self._episodes.info()

    def step(self, actions: ArrayLike) -> tuple[Arrays, NDArray, NDArray, NDArray, dict[str, Any]]:
        """Move a part of each copy."""
        if self._ended is None:
            raise RuleSafeError("the environment has no episode yet: call reset() first")
        before = np.flatnonzero(self._ended)
        if len(before) and self._mode == AutoresetMode.DISABLED:
            raise RuleSafeError(
                f"the episodes of {before.tolist()} have ended; reset them by "
                'options={"reset_mask": ...}'
            )
        reward, terminated, truncated = self._episodes.step(actions)
        final: dict[str, Any] = {}
        if self._mode == AutoresetMode.SAME_STEP:
            ended = terminated | truncated
            if ended.any():
                final = {"final_obs": self._episodes.observe(), "_final_obs": ended}
                final |= {"final_info": self._episodes.info(), "_final_info": ended}
                self._draw(np.flatnonzero(ended))
        else:
            if len(before):
                reward[before], terminated[before], truncated[before] = 0.0, False, False
                self._draw(before)
            self._ended = terminated | truncated
        observation, info = self._episodes.observe(), self._episodes.info()
        return observation, reward, terminated, truncated, {**info, **final}

    def _draw(self, where: Ints) -> None:
        _start(self._episodes, where, self.np_random, {})

    def _masked(self, mask: Any, options: Mapping[str, Any]) -> Ints:
        found = np.asarray(mask)
        if found.dtype != np.bool_ or found.shape != (self.num_envs,) or not found.any():
            raise RuleSafeError(
                f"reset_mask is {found!r:.80}; valid: bool of shape ({self.num_envs},) with at "
                "least one True"
            )
        if "rules" in options:
            raise RuleSafeError("rules cannot be changed with a reset_mask; reset all copies")
        if self._ended is None and not found.all():
            raise RuleSafeError("the first reset must be one of all copies, without reset_mask")
        return np.flatnonzero(found)


def _start(
    episodes: Episodes, where: Ints, rng: np.random.Generator, options: Mapping[str, Any]
) -> None:
    """Start episodes of the copies `where`; invalid options raise RuleSafeError first."""
    for name in options:
        if name not in _OPTIONS:
            raise unknown_name("reset option", name, _OPTIONS)
    locks = episodes.load(options["rules"]) if "rules" in options else episodes.locks
    count = len(locks.tables)
    if "locks" in options:
        chosen = np.asarray(options["locks"])
        fits = chosen.dtype.kind in "iu" and chosen.shape in ((), where.shape)
        if not fits or chosen.min() < 0 or chosen.max() >= count:
            raise RuleSafeError(
                f"locks are {chosen!r:.80}; valid: one index or {len(where)}, 0 to {count - 1}"
            )
    else:
        chosen = rng.integers(count, size=len(where))
    if locks is not episodes.locks:
        episodes.set_locks(locks)
    episodes.start(where, np.broadcast_to(chosen, where.shape))


gymnasium.register(
    id="RuleSafe-Moves-v1",
    entry_point="rulesafe_studies.moves.env:RuleSafeMovesEnv",
    vector_entry_point="rulesafe_studies.moves.env:RuleSafeMovesVectorEnv",
)
