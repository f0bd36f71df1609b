"""Run a policy as an agent in process: it receives observations and its chunks are executed."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from policy_node.history import ObservationHistory
from policy_node.loading import close_policy
from policy_node.policy import CHUNK, Policy, check_chunk
from rulesafe_core.chunks import PERIOD, load_executor, make_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.plugins import format_trace
from rulesafe_data.layout import SUBTASKS
from rulesafe_eval.memory_inputs import observed_input
from rulesafe_sim.observer import Observer
from rulesafe_sim.runtime import Agent
from rulesafe_sim.simulation import LOWER, UPPER, Simulation
from vq_memory_node.memory import Memory, Reading
from vq_memory_node.rolling import RollingMemory

if TYPE_CHECKING:
    from policy_node.network_policy import NetworkPolicy  # imports torch


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
        self._executor = load_executor(execution)(LOWER, UPPER, execute)
        self._renders = bool(policy.needs.points or policy.needs.images)

    def reset(self, simulation: Simulation) -> None:
        """Start an episode. Raises PolicyError if the policy raises an exception."""
        cameras = self._policy.needs.cameras
        self._observer = Observer(simulation, cameras) if self._renders else None
        self._history = ObservationHistory(self._policy.needs)
        self._actions: deque[NDArray[np.float64]] = deque()
        self._last_action: NDArray[np.float64] | None = None
        self.memory.reset()
        self._executor.reset(0)
        with _traced(simulation):
            self._policy.reset()

    @property
    def uses_memory(self) -> bool:
        """Whether the policy reads the memory."""
        return bool(self._policy.needs.memory)

    def close(self) -> None:
        close_policy(self._policy)

    def act(self, simulation: Simulation) -> NDArray[np.float64]:
        """Return the next action. Raises PolicyError if the policy raises an exception."""
        self._observe(simulation, until_inference=len(self._actions))
        if not self._actions:
            self._infer(simulation)
        self._last_action = self._actions.popleft()
        return self._last_action

    def watch(self, simulation: Simulation, action: NDArray[np.float64]) -> None:
        """Observe a frame whose action is another agent's, and forget the present chunk."""
        self._observe(simulation, until_inference=CHUNK)
        self._actions.clear()
        self._executor.reset(simulation.frame * PERIOD)
        self._last_action = action

    def _observe(self, simulation: Simulation, until_inference: int) -> None:
        """Add this frame to history and memory; `until_inference`: frames until the inference."""
        needs = self._policy.needs
        positions = simulation.state().action_positions.astype(np.float32)
        self.memory.push(self.observed_input(simulation))
        # Images and clouds cost more than physics, so they are rendered only where they are used.
        keys = ["points"] if until_inference < needs.cloud_frames else []
        cameras = () if until_inference else needs.image_cameras
        keys += cameras
        seen: dict[str, NDArray[Any]] = {}
        if keys and self._observer:
            seen = self._observer.observe(keys)
        self._history.push(
            simulation.frame,
            positions,
            seen.get("points"),
            {camera: seen[camera] for camera in cameras},
        )

    def observed_input(self, simulation: Simulation) -> NDArray[np.float32]:
        """Return what the memory receives at this frame."""
        return observed_input(simulation, self.memory.memory.input, self._last_action)

    def read_memory(self) -> Reading:
        """Return what the policy receives of the memory at an inference."""
        return self.memory.read()

    def _infer(self, simulation: Simulation) -> None:
        instruction = simulation.rule.instruction(self._policy.needs.instruction_length)
        observation = self._history.observation(simulation.frame, instruction, self.read_memory())
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
