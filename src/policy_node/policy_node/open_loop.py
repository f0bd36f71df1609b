"""Open-loop evaluation: action errors of a policy at the frames of demonstrations.

The policy receives the observations of the demonstration, whatever its own actions would have led
to. This needs no simulation, takes seconds and works with recordings of a real robot. It does not
measure success, which depends on how errors accumulate: that requires closed-loop evaluation.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from policy_node.history import ObservationHistory
from policy_node.loading import memory_of_policy
from policy_node.memory_inputs import memory_input
from policy_node.policy import CHUNK, Needs, Observation, Policy, check_chunk
from policy_node.safe_frame import ArmChain
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.plugins import format_trace
from rulesafe_data.layout import ACTION, POINTS, STATE, SUBTASK, SUBTASKS, image_key
from rulesafe_data.markdown import markdown_table
from rulesafe_data.store import EpisodeStore
from rulesafe_locks.lock_sets import instruction_for
from vq_memory_node.memory import WIDTHS
from vq_memory_node.rolling import RollingMemory

STEPS = (0, 11, 24, 49)
"""Steps of the chunk that are reported: the first, the last that is executed before the next chunk
(by default), the middle, the last."""

_ARM = len(ARM_JOINTS)

T = TypeVar("T")


@dataclass(frozen=True)
class Errors:
    """Errors of n chunks; step i of a chunk is (i + 1) x 0.1 s after the observation.

    Attributes:
        hand: (n, CHUNK) m, distance between the hand's positions of policy and demonstration; NaN
            after the end of the episode.
        fingers: (n, CHUNK) rad, largest error of a finger joint.
        steps: (n,) the current step of the task, from 1; 0 if the dataset does not contain it.
        subtasks: (n,) the demonstrator's subtask, an index into `layout.SUBTASKS`; -1 if the
            dataset does not contain it.
        chosen: (n,) the policy's subtask; -1 if it does not choose one.
    """

    hand: NDArray[np.float64]
    fingers: NDArray[np.float64]
    steps: NDArray[np.int64]
    subtasks: NDArray[np.int64]
    chosen: NDArray[np.int64]


def evenly_spaced(episodes: Sequence[int], count: int) -> list[int]:
    """Return `count` of these episodes, evenly spaced from the first to the last, or all."""
    if count < 1:
        raise RuleSafeError(f"--episodes must be 1 or more, got {count}")
    chosen = np.linspace(0, len(episodes) - 1, min(count, len(episodes)))
    return [episodes[i] for i in chosen.round().astype(int)]


def measure(
    policy: Policy,
    store: EpisodeStore,
    episodes: Sequence[int],
    every: int,
    progress: Callable[[int], None] = lambda done: None,
) -> Errors:
    """Run the policy at every `every`-th frame of these episodes and return its errors. Skills,
    which do not choose their subtask, receive the demonstrator's.

    Args:
        progress: called with the number of completed episodes.

    Raises:
        RuleSafeError: the dataset lacks an input of the policy, the policy raises an exception, or
            its output is not a valid chunk.
    """
    if every < 1:
        raise RuleSafeError(f"--every must be 1 or more, got {every}")
    chain = ArmChain()
    hands, fingers, steps, subtasks, chosen = [], [], [], [], []
    given = _executes_subtasks(policy)
    for done, index in enumerate(episodes, 1):
        actions = store.episode(index, [ACTION])[ACTION]
        task_steps = store.privileged.frames(index).get("step", np.zeros(len(actions), int))
        labels = np.full(len(actions), -1)
        if SUBTASK in store.features:
            labels = store.episode(index, [SUBTASK])[SUBTASK]
        elif given:
            raise RuleSafeError(f"{store.root} has no subtasks, which the skills require")
        for frame, observation in _observations(policy, store, index, every):
            if given:
                setattr(policy, "wanted", int(labels[frame]))  # noqa: B010, no part of Policy
            chunk = check_chunk(_call_policy(policy.infer, observation))
            count = min(len(chunk), len(actions) - frame)
            expected = actions[frame : frame + count]
            arms = [np.asarray(joints[:, :_ARM], float) for joints in (chunk, expected)]
            positions = [chain.hand_pose(arm)[1] for arm in arms]
            hands.append(_padded(np.linalg.norm(positions[0][:count] - positions[1], axis=1)))
            errors = np.abs(chunk[:count, _ARM:] - expected[:, _ARM:])
            fingers.append(_padded(errors.max(1)))
            steps.append(task_steps[frame])
            subtasks.append(labels[frame])
            subtask = None if given else getattr(policy, "subtask", None)
            chosen.append(-1 if subtask is None else subtask)
        progress(done)
    numbers = (np.array(values, np.int64) for values in (steps, subtasks, chosen))
    return Errors(np.array(hands), np.array(fingers), *numbers)


def _executes_subtasks(policy: Policy) -> bool:
    """Return whether a policy executes given subtasks, as skills do."""
    checkpoint = getattr(policy, "checkpoint", None)
    return checkpoint is not None and checkpoint.family == "skills"


def _call_policy(call: Callable[..., T], *arguments: Any) -> T:
    """Call a method of the policy; the traceback of its exceptions begins in the policy's code."""
    try:
        return call(*arguments)
    except RuleSafeError:
        raise
    except Exception as error:
        raise RuleSafeError(f"exception of the policy:\n{format_trace(error, __file__)}") from error


def _padded(values: NDArray[Any]) -> NDArray[np.float64]:
    return np.concatenate([values, np.full(CHUNK - len(values), np.nan)])


def _observations(
    policy: Policy, store: EpisodeStore, index: int, every: int
) -> Iterator[tuple[int, Observation]]:
    """Reset the policy, then yield every `every`-th frame of an episode and its observation."""
    needs, memory = policy.needs, RollingMemory(memory_of_policy(policy, WIDTHS))
    data = store.episode(index, _keys(needs, store))
    history = ObservationHistory(needs)
    _call_policy(policy.reset)
    task = instruction_for(store.episodes[index].task, policy.needs.instruction_length)
    observed = memory_input(store, index, memory.memory.input)
    for frame, joints in enumerate(data[STATE]):
        memory.push(observed[frame])
        images = {camera: data[image_key(camera)][frame] for camera in needs.image_cameras}
        history.push(frame, joints, data[POINTS][frame] if needs.points else None, images)
        if frame % every == 0:
            yield frame, history.observation(frame, task, memory.read())


def _keys(needs: Needs, store: EpisodeStore) -> list[str]:
    keys = [STATE]
    keys += [POINTS] if needs.points else []
    keys += map(image_key, needs.image_cameras)
    for key in keys:
        if key not in store.features:
            raise RuleSafeError(
                f"the policy needs {key}, which {store.root} lacks: run `rulesafe demos render`"
            )
    return keys


def report(errors: Errors) -> str:
    """Return Markdown tables of the errors: by step of the chunk, and by step of the task or by
    subtask, with the share of correctly chosen subtasks if the policy chooses them."""
    rows = [["step of the chunk", "hand error, mm", "finger error, rad"]]
    reached = [step for step in STEPS if np.isfinite(errors.hand[:, step]).any()]
    rows += [[str(step), *_cells(errors, np.s_[:, step])] for step in reached]
    text = markdown_table(rows, left=0)
    known = (errors.subtasks >= 0) & (errors.chosen >= 0)
    if known.any():
        right = int((errors.subtasks == errors.chosen)[known].sum())
        text += f"\n\nCorrect subtask: {right / known.sum():.1%} ({right}/{known.sum()})"
    subtasks = {str(name): errors.subtasks == i for i, name in enumerate(SUBTASKS)}
    steps = {str(step): errors.steps == step for step in np.unique(errors.steps) if step}
    for title, groups in (("subtask", subtasks), ("task step", steps)):
        head = f"hand error at step {STEPS[1]} of the chunk, mm"
        rows = [[title, "chunks", head, "finger error, rad"]]
        for name, at in groups.items():
            if at.any():
                rows.append([name, str(at.sum()), *_cells(errors, np.s_[at, STEPS[1]])])
        text += f"\n\n{markdown_table(rows, left=0)}" if len(rows) > 1 else ""
    return text


def _cells(errors: Errors, at: Any) -> list[str]:
    """Return "median (90th percentile)" of the errors of hand and fingers."""
    cells = []
    for values, number in ((1000 * errors.hand[at], "{:.1f}"), (errors.fingers[at], "{:.3f}")):
        finite = values[np.isfinite(values)]
        quantiles = np.quantile(finite, (0.5, 0.9)) if len(finite) else (np.nan, np.nan)
        median, most = (number.format(value) for value in quantiles)
        cells.append(f"{median} ({most})")
    return cells
