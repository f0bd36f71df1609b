"""What a policy would do at instants of demonstrations, beside what was done there: open loop.

It is shown what the demonstration saw, whatever it would have done before. That tells how exactly
it has learned to act, in seconds and without a simulation, of recordings of a real robot too.
Whether it opens a safe, where each error leads elsewhere, only an evaluation tells.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from policy_node.history import ObservationHistory
from policy_node.loading import checked_chunk, memory_of_policy
from policy_node.policy import CAMERAS, CHUNK, Needs, Observation, Policy
from policy_node.safe_frame import ArmChain
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTED, ARM_JOINTS
from rulesafe_core.plugins import trace_of
from rulesafe_data.layout import ACTION, POINTS, STATE
from rulesafe_data.layout import CAMERAS as PICTURES
from rulesafe_data.measuring import markdown_table
from rulesafe_data.store import EpisodeStore
from vq_memory_node.rolling import RollingMemory

ROWS = (0, 11, 24, 49)
"""Rows of the chunk that are told of: the first, the last of those that are executed before the
next chunk comes, the middle, the last."""

_ARM = len(ARM_JOINTS)

T = TypeVar("T")


@dataclass(frozen=True)
class Errors:
    """n chunks less what the demonstrations commanded; row i is 0.1 (i + 1) s ahead.

    Attributes:
        hand: (n, CHUNK) m, how far from one another the hand's places of both are; NaN after the
            episode's end.
        fingers: (n, CHUNK) rad, the finger joint that is the most off.
        steps: (n,) which step was due, from 1; 0 where the dataset does not tell.
    """

    hand: NDArray[np.float64]
    fingers: NDArray[np.float64]
    steps: NDArray[np.int64]


def spread(episodes: Sequence[int], count: int) -> list[int]:
    """So many of these episodes, evenly from the first to the last; all, if there are no more."""
    if count < 1:
        raise RuleSafeError(f"--episodes must be 1 or more, not {count}")
    chosen = np.linspace(0, len(episodes) - 1, min(count, len(episodes)))
    return [episodes[i] for i in chosen.round().astype(int)]


def measure(
    policy: Policy,
    store: EpisodeStore,
    episodes: Sequence[int],
    every: int,
    tell: Callable[[int], None] = lambda done: None,
) -> Errors:
    """Asks the policy at each `every`-th frame of these episodes.

    Args:
        tell: is called with the number of episodes that are done.

    Errors: RuleSafeError if the dataset lacks what the policy needs, the policy raises an error, or
        a chunk is none.
    """
    if every < 1:
        raise RuleSafeError(f"--every must be 1 or more, not {every}")
    chain = ArmChain()
    hands, fingers, steps = [], [], []
    for done, index in enumerate(episodes, 1):
        actions = store.episode(index, [ACTION])[ACTION]
        due = store.privileged.frames(index).get("step", np.zeros(len(actions), int))
        for frame, observation in _observations(policy, store, index, every):
            chunk = checked_chunk(_of_the_policy(policy.infer, observation))
            rows = min(CHUNK, len(actions) - frame)
            wanted = actions[frame : frame + rows]
            places = [chain.reach(np.asarray(r[:, :_ARM], float))[1] for r in (chunk, wanted)]
            hands.append(_padded(np.linalg.norm(places[0][:rows] - places[1], axis=1)))
            off = np.abs(chunk[:rows, _ARM:] - wanted[:, _ARM:])
            fingers.append(_padded(off.max(1)))
            steps.append(due[frame])
        tell(done)
    return Errors(np.array(hands), np.array(fingers), np.array(steps, np.int64))


def _of_the_policy(call: Callable[..., T], *arguments: Any) -> T:
    """What the policy answers; its errors are shown from the policy's own lines on."""
    try:
        return call(*arguments)
    except RuleSafeError:
        raise
    except Exception as error:
        raise RuleSafeError(f"the policy's error:\n{trace_of(error, __file__)}") from error


def _padded(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.concatenate([values, np.full(CHUNK - len(values), np.nan)])


def _observations(
    policy: Policy, store: EpisodeStore, index: int, every: int
) -> Iterator[tuple[int, Observation]]:
    """The frames at which a policy, reset before, is asked, and what it is shown there."""
    needs, memory = policy.needs, RollingMemory(memory_of_policy(policy))
    seen = store.episode(index, _keys(needs, store))
    history = ObservationHistory(needs)
    _of_the_policy(policy.reset)
    task = store.episodes[index].task
    for frame, joints in enumerate(seen[STATE][:, ACTED]):
        memory.push(joints)
        pictures = {}
        if needs.images:
            pictures = {c: seen[key][frame] for c, key in zip(CAMERAS, PICTURES, strict=True)}
        history.push(frame, joints, seen[POINTS][frame] if needs.points else None, pictures)
        if frame % every == 0:
            yield frame, history.observation(frame, task, memory.read())


def _keys(needs: Needs, store: EpisodeStore) -> list[str]:
    keys = [STATE]
    keys += [POINTS] if needs.points else []
    keys += PICTURES if needs.images else []
    for key in keys:
        if key not in store.features:
            raise RuleSafeError(f"the policy needs {key}, which {store.root} lacks: render it")
    return keys


def report(errors: Errors) -> str:
    """Two tables in Markdown: by row of the chunk, and by step where that is known."""
    rows = [["row of the chunk", "hand off, mm", "fingers off, rad"]]
    rows += [[str(row), *_cells(errors, np.s_[:, row])] for row in ROWS]
    text = markdown_table(rows, left=0)
    row = ROWS[1]
    known = [int(step) for step in np.unique(errors.steps) if step]
    if not known:
        return text
    rows = [["step due", "chunks", f"hand off at row {row}, mm", "fingers off, rad"]]
    for step in known:
        at = errors.steps == step
        rows.append([str(step), str(at.sum()), *_cells(errors, np.s_[at, row])])
    return f"{text}\n\n{markdown_table(rows, left=0)}"


def _cells(errors: Errors, at: Any) -> list[str]:
    """Median, and in brackets what nine of ten stay under, of hand and fingers."""
    cells = []
    for values, figure in ((1000 * errors.hand[at], "{:.1f}"), (errors.fingers[at], "{:.3f}")):
        there = values[np.isfinite(values)]
        quantiles = np.quantile(there, (0.5, 0.9)) if len(there) else (np.nan, np.nan)
        middle, most = (figure.format(value) for value in quantiles)
        cells.append(f"{middle} ({most})")
    return cells
