"""A policy as an actor: observations in, chunks out, executed by receding horizon, in process.

Nothing of what the lock knows reaches the policy: it is shown joint positions, clouds, pictures,
the instruction and the reading of its memory, as `Needs` asks, at the frames where it is asked.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_node.history import History
from policy_node.loading import checked_chunk
from policy_node.policy import CAMERAS, CHUNK, Observation, Policy
from rulesafe_core.chunks import PERIOD, load_executor, make_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.plugins import trace_of
from rulesafe_eval.live import Live, PolicyBroke
from rulesafe_sim.observer import CAMERA_OF, Observer
from rulesafe_sim.simulation import LOWER, UPPER, Simulation
from vq_memory_node.memory import Memory
from vq_memory_node.rolling import RollingMemory

PICTURES = {CAMERA_OF[key]: key for key in ("head_rgb", "front_rgb")}
"""The observation's key by camera."""


class PolicyActor:
    """Asks a policy, executes the first `execute` rows of its chunk, and asks again.

    Args:
        policy: one episode at a time.
        memory: read for a policy that needs it; it is fed every frame.
        execute: 1..CHUNK.
        execution: one of `rulesafe_core.chunks.EXECUTORS`: what is followed where chunks overlap.
        facts: what is known of the policy, for results.
    """

    def __init__(
        self,
        policy: Policy,
        memory: Memory,
        execute: int,
        execution: str = "newest",
        facts: dict[str, Any] | None = None,
    ):
        if not 1 <= execute <= CHUNK:
            raise RuleSafeError(f"of a chunk 1..{CHUNK} rows are executed, not {execute}")
        self._policy, self.memory, self._execute = policy, RollingMemory(memory), execute
        self._executor = load_executor(execution)(LOWER, UPPER, execute)
        self.facts = facts or {"kind": type(policy).__name__}
        needs = policy.needs
        self.renders = bool(needs.points or needs.images)

    def drive(self, simulation: Simulation, live: Live) -> str:
        """Acts until the episode is over. Errors: PolicyBroke where the policy raises one."""
        senses = _Senses(simulation, self._policy, self.memory)
        executor = self._executor
        executor.reset(0)
        with _traced(simulation):
            self._policy.reset()
        senses.look(last=True)
        while not live.over:
            observation = senses.observation()
            began = time.perf_counter()
            with _traced(simulation):
                answer = self._policy.infer(observation)
            chunk = checked_chunk(answer)
            live.inferences.append(time.perf_counter() - began)
            now = simulation.frame * PERIOD
            executor.accept(make_chunk(ACTION_JOINTS, chunk, now), now, simulation.command)
            for row, target in enumerate(executor.ahead[: self._execute], 1):
                if not live.step(target):
                    break
                senses.look(last=row == self._execute, left=self._execute - row)
        live.clipped = executor.clipped
        return ""


@contextmanager
def _traced(simulation: Simulation) -> Iterator[None]:
    """Makes of an exception a PolicyBroke that shows where in the policy it comes from."""
    try:
        yield
    except RuleSafeError:
        raise
    except Exception as error:
        raise PolicyBroke(simulation.frame, trace_of(error, __file__)) from None


class _Senses:
    """What a policy is shown of a simulation that was just reset."""

    def __init__(self, simulation: Simulation, policy: Policy, memory: RollingMemory):
        self._simulation, self._needs, self._memory = simulation, policy.needs, memory
        self._history = History(self._needs)
        draws = self._needs.points or self._needs.images
        self._observer = Observer(simulation) if draws else None
        memory.reset()

    def look(self, last: bool, left: int = 0) -> None:
        """Takes a frame; `left`: frames until the policy is asked, `last`: it is asked now."""
        simulation, needs = self._simulation, self._needs
        positions = simulation.state().action_positions.astype(np.float32)
        self._memory.push(positions)
        # Pictures and clouds cost far more than physics: they are made where they are shown.
        keys = ["points"] if left < needs.cloud_frames else []
        keys += list(PICTURES.values()) if needs.images and last else []
        seen: dict[str, NDArray[Any]] = {}
        if keys and self._observer:
            seen = self._observer.observe(keys)
        self._history.push(
            simulation.frame,
            positions,
            seen.get("points"),
            {camera: seen[PICTURES[camera]] for camera in CAMERAS if PICTURES[camera] in seen},
        )

    def observation(self) -> Observation:
        simulation = self._simulation
        return self._history.observation(
            simulation.frame, simulation.rule.description, self._memory.read()
        )


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
