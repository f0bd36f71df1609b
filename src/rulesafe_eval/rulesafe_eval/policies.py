"""A policy as an agent: observations in, chunks out, executed by receding horizon, in process."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_node.history import ObservationHistory
from policy_node.loading import checked_chunk
from policy_node.policy import CAMERAS, CHUNK, Observation, Policy
from rulesafe_core.chunks import PERIOD, load_executor, make_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.plugins import trace_of
from rulesafe_sim.observer import CAMERA_OF, Observer
from rulesafe_sim.runtime import Agent
from rulesafe_sim.simulation import LOWER, UPPER, Simulation
from vq_memory_node.memory import Memory
from vq_memory_node.rolling import RollingMemory

IMAGES = {CAMERA_OF[key]: key for key in ("head_rgb", "front_rgb")}
"""The observation's key by camera."""


class PolicyBroke(Exception):
    """A policy raised an exception.

    Attributes:
        frame: how many were executed before.
        trace: the exception with its traceback, without frames of this package; some lines.
    """

    def __init__(self, frame: int, trace: str):
        super().__init__(frame, trace)
        self.frame, self.trace = frame, trace


class PolicyAgent(Agent):
    """Infers a chunk, executes its first `execute` actions, and infers again.

    The policy receives nothing that the lock knows: joint positions, point clouds, images, the
    instruction and the reading of its memory, as its `Needs` say, and at the frames of inference.

    Args:
        policy: one episode at a time.
        memory: read for a policy that needs it; it is fed every frame.
        execute: 1..CHUNK.
        execution: one of `rulesafe_core.chunks.EXECUTORS`: what is followed where chunks overlap.
    """

    def __init__(self, policy: Policy, memory: Memory, execute: int, execution: str = "newest"):
        if not 1 <= execute <= CHUNK:
            raise RuleSafeError(f"of a chunk 1..{CHUNK} rows are executed, not {execute}")
        self._policy, self.memory, self._execute = policy, RollingMemory(memory), execute
        self._executor = load_executor(execution)(LOWER, UPPER, execute)
        self.renders = bool(policy.needs.points or policy.needs.images)

    def reset(self, simulation: Simulation) -> None:
        """Errors: PolicyBroke where the policy raises an exception."""
        self._observer = Observer(simulation) if self.renders else None
        self._history = ObservationHistory(self._policy.needs)
        self._actions: deque[NDArray[np.float64]] = deque()
        self.memory.reset()
        self._executor.reset(0)
        with _traced(simulation):
            self._policy.reset()

    def act(self, simulation: Simulation) -> NDArray[np.float64]:
        """Errors: PolicyBroke where the policy raises an exception."""
        self._observe(simulation, until_inference=len(self._actions))
        if not self._actions:
            self._infer(simulation)
        return self._actions.popleft()

    def _observe(self, simulation: Simulation, until_inference: int) -> None:
        """Add this frame to history and memory; `until_inference`: frames until it is used."""
        needs = self._policy.needs
        positions = simulation.state().action_positions.astype(np.float32)
        self.memory.push(positions)
        # Images and clouds cost far more than physics: they are rendered where they are used.
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
        observation = self._history.observation(
            simulation.frame, simulation.rule.description, self.memory.read()
        )
        began = time.perf_counter()
        with _traced(simulation):
            answer = self._policy.infer(observation)
        chunk = checked_chunk(answer)
        self.log.inference_seconds.append(time.perf_counter() - began)
        now, executor = simulation.frame * PERIOD, self._executor
        executor.accept(make_chunk(ACTION_JOINTS, chunk, now), now, simulation.command)
        self.log.clipped_actions = executor.clipped
        self._actions.extend(executor.ahead[: self._execute])


@contextmanager
def _traced(simulation: Simulation) -> Iterator[None]:
    """Makes of an exception a PolicyBroke that shows where in the policy it comes from."""
    try:
        yield
    except RuleSafeError:
        raise
    except Exception as error:
        raise PolicyBroke(simulation.frame, trace_of(error, __file__)) from None


class ShuffledMemory:
    """A policy whose memory is permuted in time before it sees it: what it holds stays, when it was
    is lost. A policy that makes use of the order gets worse.

    At each question what was observed is permuted anew, by a generator that begins anew with each
    episode.
    """

    def __init__(self, policy: Policy, seed: int = 0):
        self._policy, self._seed = policy, seed
        self.needs = policy.needs
        self.reset()

    def reset(self) -> None:
        self._random = np.random.default_rng(self._seed)
        self._policy.reset()

    def infer(self, observation: Observation) -> NDArray[np.float32]:
        reading = observation.memory
        at = np.flatnonzero(reading.mask)
        values = reading.values.copy()
        values[at] = values[self._random.permutation(at)]
        shuffled = replace(observation, memory=replace(reading, values=values))
        return self._policy.infer(shuffled)


CONTROLS: dict[str, Callable[[Policy], Policy]] = {
    "none": lambda policy: policy,
    "shuffled": ShuffledMemory,
}
"""What `--memory-control` does to a policy."""
