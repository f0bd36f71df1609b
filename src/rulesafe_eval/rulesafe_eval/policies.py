"""Run a policy as an agent in process: it receives observations and its chunks are executed."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from policy_node.history import ObservationHistory
from policy_node.loading import close_policy
from policy_node.policy import CAMERAS, CHUNK, Observation, Policy, check_chunk
from rulesafe_core.chunks import PERIOD, load_executor, make_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.plugins import format_trace
from rulesafe_data.layout import SUBTASKS
from rulesafe_eval.memory_inputs import observed_input
from rulesafe_sim.observer import CAMERA_OF, Observer
from rulesafe_sim.runtime import Agent
from rulesafe_sim.simulation import LOWER, UPPER, Simulation
from vq_memory_node.memory import Memory
from vq_memory_node.rolling import RollingMemory

if TYPE_CHECKING:
    from policy_node.network_policy import NetworkPolicy  # imports torch

IMAGES = {CAMERA_OF[key]: key for key in ("head_rgb", "front_rgb")}
"""Observation key of each camera."""


Change = Callable[[NDArray[Any], np.random.Generator], NDArray[Any]]
"""A change of the observed values of a memory; see ChangedMemory."""


class PolicyError(Exception):
    """A policy raised an exception.

    Attributes:
        frame: number of frames executed before.
        trace: the exception with its traceback, without frames of this package.
    """

    def __init__(self, frame: int, trace: str):
        super().__init__(frame, trace)
        self.frame, self.trace = frame, trace


class PolicyAgent(Agent):
    """Infers a chunk, executes its first `execute` actions, and infers again.

    The policy receives no privileged state: only joint positions, point clouds, images, the
    instruction and its memory, as its `Needs` say, at the frames of inference. Only a memory that
    is privileged itself (`Memory.privileged`) observes the phases of the parts.

    Args:
        policy: policy that acts in one episode at a time.
        memory: updated every frame, read at inference by a policy that needs it.
        execute: 1..CHUNK.
        execution: one of `rulesafe_core.chunks.EXECUTORS`: how overlapping chunks are combined.
    """

    def __init__(self, policy: Policy, memory: Memory, execute: int, execution: str = "newest"):
        if not 1 <= execute <= CHUNK:
            raise RuleSafeError(f"execute must be 1..{CHUNK} actions of a chunk, not {execute}")
        self._policy, self.memory, self._execute = policy, RollingMemory(memory), execute
        self.memory_input = memory.input
        self._executor = load_executor(execution)(LOWER, UPPER, execute)
        self.renders = bool(policy.needs.points or policy.needs.images)

    def reset(self, simulation: Simulation) -> None:
        """Start an episode. Raises PolicyError if the policy raises an exception."""
        self._observer = Observer(simulation) if self.renders else None
        self._history = ObservationHistory(self._policy.needs)
        self._actions: deque[NDArray[np.float64]] = deque()
        self._last_action: NDArray[np.float64] | None = None
        self.memory.reset()
        for observed in self.earlier_inputs:
            self.memory.push(observed)
        self._executor.reset(0)
        with _traced(simulation):
            self._policy.reset()

    def close(self) -> None:
        close_policy(self._policy)

    def act(self, simulation: Simulation) -> NDArray[np.float64]:
        """Return the next action. Raises PolicyError if the policy raises an exception."""
        self._observe(simulation, until_inference=len(self._actions))
        if not self._actions:
            self._infer(simulation)
        self._last_action = self._actions.popleft()
        return self._last_action

    def _observe(self, simulation: Simulation, until_inference: int) -> None:
        """Add this frame to history and memory; `until_inference`: frames until the inference."""
        needs = self._policy.needs
        positions = simulation.state().action_positions.astype(np.float32)
        if count := len(self.replacement_inputs):
            self.memory.push(self.replacement_inputs[min(simulation.frame, count - 1)])
        else:
            self.memory.push(observed_input(simulation, self.memory_input, self._last_action))
        # Images and clouds cost more than physics, so they are rendered only where they are used.
        keys = ["points"] if until_inference < needs.cloud_frames else []
        keys += list(IMAGES.values()) if needs.images and not until_inference else []
        seen: dict[str, NDArray[Any]] = {}
        if keys and self._observer:
            seen = self._observer.observe(keys)
        self._history.push(
            simulation.frame,
            positions,
            seen.get("points"),
            {camera: seen[IMAGES[camera]] for camera in CAMERAS if IMAGES[camera] in seen},
        )

    def _infer(self, simulation: Simulation) -> None:
        instruction = simulation.rule.instruction(self._policy.needs.instruction_length)
        observation = self._history.observation(simulation.frame, instruction, self.memory.read())
        began = time.perf_counter()
        with _traced(simulation):
            answer = self._policy.infer(observation)
        chunk = check_chunk(answer)
        self.log.inference_seconds.append(time.perf_counter() - began)
        now, executor = simulation.frame * PERIOD, self._executor
        executor.accept(make_chunk(ACTION_JOINTS, chunk, now), now, simulation.command)
        self.log.targets += len(chunk)
        self.log.clipped_actions = executor.clipped
        self._actions.extend(executor.ahead[: self._execute])


class SkillsAgent(PolicyAgent):
    """Executes subtasks with skills; each is the next event from the lock's true
    state. Its success is the limit of a policy of two levels with these skills."""

    _policy: "NetworkPolicy"

    def act(self, simulation: Simulation) -> NDArray[np.float64]:
        """Return the next action. A new chunk is inferred as soon as the event changes; the skills
        may complete the present demonstration first."""
        if event := next(iter(simulation.progress.remaining), ""):
            wanted = list(SUBTASKS).index(event)
            if self._policy.wanted != wanted:
                self._policy.wanted = wanted
                self._actions.clear()
        return super().act(simulation)


@contextmanager
def _traced(simulation: Simulation) -> Iterator[None]:
    """Raise an exception of the policy as PolicyError with its traceback."""
    try:
        yield
    except RuleSafeError:
        raise
    except Exception as error:
        raise PolicyError(simulation.frame, format_trace(error, __file__)) from None


class ChangedMemory:
    """A policy that receives a changed memory, as a control experiment.

    Args:
        policy: the policy.
        change: one of CHANGES. It receives the observed values, oldest first, and a random
            generator, which is seeded again for each episode, and returns as many values or fewer:
            the newest ones.
        seed: seed of the random generator.
    """

    def __init__(self, policy: Policy, change: Change, seed: int = 0) -> None:
        self._policy, self._change, self._seed = policy, change, seed
        self.needs = policy.needs
        self.reset()

    def reset(self) -> None:
        self._random = np.random.default_rng(self._seed)
        self._policy.reset()

    def infer(self, observation: Observation) -> NDArray[np.float32]:
        reading = observation.memory
        found = self._change(reading.values[reading.mask], self._random)
        values, mask = np.zeros_like(reading.values), np.zeros_like(reading.mask)
        if len(found):
            values[-len(found) :], mask[-len(found) :] = found, True
        changed = replace(observation, memory=replace(reading, values=values, mask=mask))
        return self._policy.infer(changed)


DELAY = 3
"""Number of values, 2 s apart, that a delayed memory lacks."""

NEWEST = 10
"""Number of values, 2 s apart, that a truncated memory has."""


def _perturbed(values: NDArray[Any], random: np.random.Generator) -> NDArray[Any]:
    """Replace the middle third by values drawn at random from all."""
    third, changed = len(values) // 3, values.copy()
    changed[third : 2 * third] = random.choice(values, third)
    return changed


CHANGES: dict[str, Change] = {
    "shuffled": lambda values, random: random.permutation(values),
    "delayed": lambda values, random: values[: max(1, len(values) - DELAY)],
    "truncated": lambda values, random: values[-NEWEST:],
    "perturbed": _perturbed,
}
"""Changes of `--memory-control`. shuffled: permuted in time, which keeps the contents and removes
the order; delayed: without the newest values, but not empty; truncated: only the newest values;
perturbed: those in the middle third are replaced by random ones of all."""

ANOTHER = "another"
"""Value of `--memory-control`: the memory of another episode, see `interference`."""

CONTROLS = ("none", *CHANGES, ANOTHER)
"""Values of `--memory-control`."""


def controlled(policy: Policy, control: str) -> Policy:
    """Return a policy with a memory control, which is one of CONTROLS."""
    return ChangedMemory(policy, CHANGES[control]) if control in CHANGES else policy
