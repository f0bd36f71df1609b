"""When the policy is asked for a chunk, and the thread in which it infers. No ROS here."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_node.policy import Observation, Policy, check_chunk
from policy_node.synchroniser import Synchroniser
from rulesafe_core.chunks import PERIOD, SECOND

STILL = 1.0
"""Joint states that are repeated with one stamp for this long (s of wall time) mean that time
stands still until a chunk arrives."""

OVERDUE = SECOND // 2
"""While time goes on, an observation that is this late (ns) is completed from other frames."""


@dataclass(frozen=True)
class InferenceRequest:
    """An observation to infer a chunk for.

    Attributes:
        episode: the synchroniser's count.
        stamp: of the observation, ns.
        begins: whether it is the episode's first.
        observation: of the policy.
    """

    episode: int
    stamp: int
    begins: bool
    observation: Observation


@dataclass(frozen=True)
class Result:
    """A chunk (CHUNK, 13), rad, and the wall time (s) of its inference."""

    request: InferenceRequest
    chunk: NDArray[np.float32]
    seconds: float


class RequestSchedule:
    """Requests a chunk at the episode's first frame, and then at the first frame at which `execute`
    steps of the last chunk have passed.

    `failure`: why the policy gave up the present episode; no more requests then.
    """

    def __init__(self, sync: Synchroniser, execute: int) -> None:
        self._sync, self._execute = sync, execute
        self._clear()

    def _clear(self) -> None:
        self._episode = self._sync.episode
        self._begins = True
        self._due = 0  # ns
        self._answered = -1  # ns, the stamp of the last chunk
        self._newest, self._since, self._repeated = -1, 0.0, 0
        self.failure = ""

    def request(self, fill: bool = False) -> InferenceRequest | None:
        """Return the next request, if it is due and the observation is complete. `fill`: missing
        parts are taken from a neighbouring frame, as when time has gone on without them."""
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
        """Return whether a request is one of the present episode."""
        return request.episode == self._sync.episode

    def accept(self, request: InferenceRequest) -> bool:
        """Register the result of a request. Returns whether it is still of use."""
        if not self.is_current(request):
            return False
        self._answered = request.stamp
        self._newest = -1  # The timeout of `stands_still` starts now.
        self._due = request.stamp + self._execute * PERIOD
        return True

    def stands_still(self, now: float) -> bool:
        """Return whether time has stood still for long; at `now` (s of wall time)."""
        newest, repeated = self._sync.newest, self._sync.stream.counts.duplicates
        if newest == self._newest and now - self._since <= STILL:
            return False
        still = newest == self._newest and repeated > self._repeated
        self._newest, self._since, self._repeated = newest, now, repeated
        return still

    @property
    def lost(self) -> bool:
        """Whether the newest frame already has a chunk."""
        return 0 <= self._answered == self._sync.newest

    def hurry(self) -> None:
        """Make a request for the newest frame due at once."""
        self._due = min(self._due, self._sync.newest)


class InferenceWorker:
    """Infers one chunk at a time, in a separate thread.

    Args:
        done: called in that thread when there is a result to `take`.
    """

    def __init__(self, done: Callable[[], object]) -> None:
        self._done: Callable[[], object] = done
        self._thread = ThreadPoolExecutor(1, "policy")
        self._future: Future[Result] | None = None

    @property
    def busy(self) -> bool:
        """Whether a chunk is being inferred, or a result has not been taken."""
        return self._future is not None

    def submit(self, policy: Policy, request: InferenceRequest) -> None:
        """Begin to infer; only while it is not busy."""
        assert self._future is None
        self._future = self._thread.submit(_infer, policy, request)
        self._future.add_done_callback(lambda future: self._done())

    def take(self) -> Result | None:
        """Return the result, once, if there is one. Errors: what the policy raised."""
        if self._future is None or not self._future.done():
            return None
        future, self._future = self._future, None
        return future.result()

    def close(self) -> None:
        """Stop without waiting for a running inference, whose result is dropped."""
        self._done = lambda: None
        self._thread.shutdown(wait=False, cancel_futures=True)


def _infer(policy: Policy, request: InferenceRequest) -> Result:
    began = time.perf_counter()
    if request.begins:
        policy.reset()
    chunk = check_chunk(policy.infer(request.observation))
    return Result(request, chunk, time.perf_counter() - began)
