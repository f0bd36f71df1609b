"""Episodes of moves: many copies of locks without robot and physics, moved in parallel.

The two environments of `env` are built on this module.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.settings import check_positive
from rulesafe_locks.instructions import Length, check_length
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.locks import EVENTS, PARTS, Rule
from rulesafe_studies.moves.lock_tables import Ints, LockBatch, LockTables

KEYS = ("phases", "last_move", "plan", "instruction")
"""Keys of the observation; see `env.RuleSafeMovesEnv`."""

MOVES_PER_EVENT = 2
"""Time limit: moves for each event of the shortest plan. In RuleSafe-v1 an event has 20 s, twice
the time that the slowest demonstrations take."""

PLAN_LENGTH = 16
"""Length of the observation `plan`. The longest plan of the packaged locks has 12 events."""

INSTRUCTION_BYTES = 1024
"""Length of the observation `instruction`."""

SPACES: Mapping[str, spaces.Space] = {
    "phases": spaces.MultiBinary(len(PARTS)),
    "last_move": spaces.Discrete(1 + 2 * len(PARTS)),
    "plan": spaces.MultiDiscrete([1 + len(EVENTS)] * PLAN_LENGTH),
    "instruction": spaces.Box(0, 255, (INSTRUCTION_BYTES,), np.uint8),
}

Rules = str | Rule | Sequence[str | Rule]


def rules_of(rules: Rules) -> tuple[Rule, ...]:
    """Return the rules of a list for `lock_sets.expand_rules`, or the given ones."""
    if isinstance(rules, str | Rule):
        rules = [rules]
    found: list[Rule] = []
    for each in rules:
        found += expand_rules(each).values() if isinstance(each, str) else [each]
    return tuple(found)


def check_keys(observations: Sequence[str]) -> None:
    """Raise RuleSafeError unless these are keys of the observation, one or more."""
    for key in observations:
        if key not in KEYS:
            raise unknown_name("observation", key, KEYS)
    if not observations:
        raise RuleSafeError(f"observations is empty; valid: one or more of {', '.join(KEYS)}")


def check_render_mode(render_mode: str | None) -> None:
    """Raise RuleSafeError unless the mode is None: the environment has no images."""
    if render_mode is not None:
        raise RuleSafeError(f"render_mode is {render_mode!r}; valid: None, since there is no image")


class LockSet:
    """The locks that episodes are drawn from, with what policies may observe of them.

    Raises:
        RuleSafeError: an unknown rule or instruction, a lock that cannot be opened, or a plan or
            instruction that is too long for its observation in `keys`.
    """

    def __init__(self, rules: Rules, keys: Sequence[str], instruction: Length) -> None:
        check_length(instruction)
        self._length = instruction
        self.tables = LockTables.of(rules_of(rules))
        self.facts = {
            "bits": np.array([proof.bits for proof in self.tables.proofs]),
            "bits_blind": np.array([proof.bits_blind for proof in self.tables.proofs]),
            "memoryless": np.array([proof.memoryless for proof in self.tables.proofs]),
        }
        self.constant = {key: getattr(self, key) for key in keys if key in ("plan", "instruction")}

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the locks, in the order of their indices."""
        return tuple(rule.id for rule in self.tables.rules)

    @cached_property
    def instructions(self) -> tuple[str, ...]:
        return tuple(rule.instruction(self._length) for rule in self.tables.rules)

    @cached_property
    def plan(self) -> Ints:
        """The shortest plan of each lock (R, PLAN_LENGTH): 1 + index in EVENTS, then zeros."""
        codes = [[1 + EVENTS.index(e) for e in proof.plan] for proof in self.tables.proofs]
        return self._padded("plan", "events", codes, PLAN_LENGTH, np.int64)

    @cached_property
    def instruction(self) -> NDArray[np.uint8]:
        """The instruction of each lock (R, INSTRUCTION_BYTES), UTF-8, then zeros."""
        texts = [list(text.encode()) for text in self.instructions]
        return self._padded("instruction", "bytes", texts, INSTRUCTION_BYTES, np.uint8)

    def _padded(
        self, name: str, unit: str, rows: Sequence[list[int]], length: int, dtype: type
    ) -> NDArray[Any]:
        for rule_id, row in zip(self.ids, rows, strict=True):
            if len(row) > length:
                raise RuleSafeError(
                    f"{rule_id}: the {name} has {len(row)} {unit}; valid: at most {length}, or "
                    f"observations without {name!r}"
                )
        return np.array([row + [0] * (length - len(row)) for row in rows], dtype)


class Episodes:
    """Episodes of `count` copies of locks, without automatic resets. Attributes and results are
    arrays whose first axis is `count`; see `env.RuleSafeMovesEnv` for the arguments."""

    def __init__(
        self,
        count: int,
        rules: Rules,
        observations: Sequence[str],
        visible: bool,
        moves: int,
        attempts: int,
        instruction: Length,
    ) -> None:
        for name, value in (("num_envs", count), ("moves", moves), ("attempts", attempts)):
            check_positive(name, value)
        check_keys(observations)
        self.count, self.keys = count, tuple(observations)
        self._visible, self._moves, self._attempts = visible, moves, attempts
        self._length: Length = instruction
        self.set_locks(self.load(rules))

    def load(self, rules: Rules) -> LockSet:
        return LockSet(rules, self.keys, self._length)

    def set_locks(self, locks: LockSet) -> None:
        """Replace the locks; all copies have to be started again."""
        self.locks, self.batch = locks, LockBatch(locks.tables, self.count)
        self._limit = self._moves * locks.tables.steps
        self._made = np.zeros(self.count, np.int64)
        self._last = np.zeros(self.count, np.int64)
        self.attempt = np.zeros(self.count, np.int64)
        self.opened = np.zeros(self.count, np.int64)
        self.success = np.zeros(self.count, bool)
        self._scores = np.zeros(self.count), np.zeros(self.count)

    def start(self, where: Ints, locks: Ints) -> None:
        """Start an episode of the copies `where` (n,) with these locks (n,)."""
        self.batch.reset(where, locks)
        for array in (self._made, self._last, self.attempt, self.opened, *self._scores):
            array[where] = 0
        self.success[where] = False

    def step(self, actions: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
        """Move a part of each copy; return rewards, terminations and truncations."""
        parts = self._checked(actions)
        batch, steps = self.batch, self.locks.tables.steps
        before = batch.steps_done.copy()
        batch.move(parts)
        reward = (batch.steps_done - before) / steps[batch.lock]
        self.success = opened = batch.opened
        self._scores = batch.process_score, batch.order_free_score
        self.opened += opened
        self._made += 1
        self._last = 1 + parts + len(PARTS) * batch.rejected
        over = opened | (self._made >= self._limit[batch.lock])
        if self._attempts > 1:
            final = self.attempt == self._attempts - 1
            self._retry(np.flatnonzero(over & ~final))
            over &= final
        return reward, over & opened, over & ~opened

    def _retry(self, where: Ints) -> None:
        """Start the next attempt of the copies `where` (n,), at the same lock."""
        self.batch.reset(where)
        self._made[where] = self._last[where] = 0
        self.attempt[where] += 1

    def _checked(self, actions: ArrayLike) -> NDArray[np.int64]:
        found = np.asarray(actions)
        integers = found.dtype.kind in "iu" and found.shape == (self.count,)
        if not integers or found.min() < 0 or found.max() >= len(PARTS):
            raise RuleSafeError(
                f"actions are {found!r:.80}; valid: integers of shape ({self.count},), 0 to 2 for "
                f"{', '.join(PARTS)}"
            )
        return found.astype(np.int64)

    def observe(self) -> dict[str, NDArray[Any]]:
        """Return the observation; the arrays are new ones."""
        return {key: self._observed(key) for key in self.keys}

    def _observed(self, key: str) -> NDArray[Any]:
        if key == "phases":
            phases = self.batch.phases
            return phases if self._visible else np.zeros_like(phases)
        if key == "last_move":
            return self._last.copy()
        return self.locks.constant[key].take(self.batch.lock, axis=0)

    def info(self) -> dict[str, NDArray[Any]]:
        """Return privileged facts; see docs/gymnasium.md."""
        lock, attempts = self.batch.lock, self._attempts
        return {
            "lock": lock.copy(),
            "attempt": self.attempt.copy(),
            "opened_attempts": self.opened.copy(),
            "rejected": self._last > len(PARTS),
            "process_score": self._scores[0].copy(),
            "order_free_score": self._scores[1].copy(),
            "remaining": self.batch.remaining,
            "success": self.success.copy(),
            "is_success": self.success.copy(),
            "optimal_length": attempts * self.locks.tables.steps[lock],
            "optimal_return": np.full(self.count, float(attempts)),
            **{name: values[lock] for name, values in self.locks.facts.items()},
        }
