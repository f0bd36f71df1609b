"""The schedule of inference requests, and the thread in which the policy infers. Without ROS."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_node.policy import CHUNK, Observation, Policy, check_chunk
from policy_node.synchroniser import Synchroniser
from rulesafe_core.chunks import PERIOD, REPEAT_AFTER, SECOND

OVERDUE = SECOND // 2
"""An observation that is this late (ns) is completed with parts of neighbouring frames."""


@dataclass(frozen=True)
class InferenceRequest:
    """An observation to infer a chunk for.

    Attributes:
        episode: number of the episode, counted by the synchroniser.
        stamp: stamp of the observation, ns.
        begins: whether it is the first request of the episode.
        observation: the policy's input.
    """

    episode: int
    stamp: int
    begins: bool
    observation: Observation


@dataclass(frozen=True)
class Result:
    """A chunk (n, 13), rad, and the wall time (s) that its inference took."""

    request: InferenceRequest
    chunk: NDArray[np.float32]
    seconds: float


class RequestSchedule:
    """Requests a chunk at the episode's first frame, and then at the first frame at which `execute`
    steps of the last chunk have passed.

    Attributes:
        failure: error of the policy in the current episode, for which no more chunks are requested.
    """

    def __init__(self, sync: Synchroniser, execute: int) -> None:
        self._sync, self._execute = sync, execute
        self._clear()

    def _clear(self) -> None:
        self._episode = self._sync.episode
        self._begins = True
        self._due = 0  # ns
        self._newest, self._since, self._repeated = -1, 0.0, 0
        self.failure = ""

    def request(self, fill: bool = False) -> InferenceRequest | None:
        """Return the next request if it is due and the observation is complete, else None. `fill`:
        take missing parts from neighbouring frames even if the request is not overdue."""
        sync = self._sync
        if sync.episode != self._episode:
            self._clear()
        if sync.first is None or self.failure:
            return None
        overdue = sync.newest - max(self._due, sync.first) >= OVERDUE
        found = sync.complete(self._due, fill or overdue)
        if found is None:
            return None
        begins, self._begins = self._begins, False
        stamp, observation = found
        return InferenceRequest(sync.episode, stamp, begins, observation)

    def is_current(self, request: InferenceRequest) -> bool:
        """Return whether a request belongs to the current episode."""
        return request.episode == self._sync.episode

    def accept(self, request: InferenceRequest, steps: int = CHUNK) -> bool:
        """Register the chunk of a request and its number of steps; return False if the episode of
        the request has ended."""
        if not self.is_current(request):
            return False
        self._newest = -1  # The timeout of `time_stopped` starts now.
        self._due = request.stamp + min(self._execute, steps) * PERIOD
        return True

    def time_stopped(self, now: float) -> bool:
        """Return whether joint states have repeated one stamp for longer than REPEAT_AFTER at `now`
        (s of wall time): time has stopped until the next chunk arrives."""
        newest, repeated = self._sync.newest, self._sync.stream.counts.duplicates
        if newest == self._newest and now - self._since <= REPEAT_AFTER:
            return False
        stopped = newest == self._newest and repeated > self._repeated
        self._newest, self._since, self._repeated = newest, now, repeated
        return stopped

    def request_now(self) -> None:
        """Make a request for the newest frame due now."""
        self._due = min(self._due, self._sync.newest)


class InferenceWorker:
    """Infers one chunk at a time, in a separate thread.

    Args:
        done: called in that thread when a result is available.
    """

    def __init__(self, done: Callable[[], object]) -> None:
        self._done: Callable[[], object] = done
        self._thread = ThreadPoolExecutor(1, "policy")
        self._future: Future[Result] | None = None

    @property
    def busy(self) -> bool:
        """Whether an inference is running, or its result has not been taken yet."""
        return self._future is not None

    def submit(self, policy: Policy, request: InferenceRequest) -> None:
        """Start an inference; the worker must not be busy."""
        assert self._future is None
        self._future = self._thread.submit(_infer, policy, request)
        self._future.add_done_callback(lambda future: self._done())

    def take(self) -> Result | None:
        """Return the result once, or None if there is none yet; raise the policy's exceptions."""
        if self._future is None or not self._future.done():
            return None
        future, self._future = self._future, None
        return future.result()

    def close(self) -> None:
        """Stop without waiting for a running inference; its result is discarded."""
        self._done = lambda: None
        self._thread.shutdown(wait=False, cancel_futures=True)


def _infer(policy: Policy, request: InferenceRequest) -> Result:
    began = time.perf_counter()
    if request.begins:
        policy.reset()
    chunk = check_chunk(policy.infer(request.observation))
    return Result(request, chunk, time.perf_counter() - began)
