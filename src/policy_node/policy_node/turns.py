"""When the policy is asked, of what, and the thread in which it thinks. No ROS here."""

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
"""Joint states that come again and again with one stamp for this long (s of wall time) mean that a
chunk is waited for."""

OVERDUE = SECOND // 2
"""Where time goes on, an observation that is this late (ns) is made of what there is."""


@dataclass(frozen=True)
class Question:
    """An observation to answer.

    Attributes:
        episode: the synchroniser's count.
        stamp: of the observation, ns.
        begins: the episode's first question.
        observation: what the policy is shown.
    """

    episode: int
    stamp: int
    begins: bool
    observation: Observation


@dataclass(frozen=True)
class Answer:
    """A chunk (CHUNK, 13), rad, and the wall time (s) that it took in the thread."""

    question: Question
    rows: NDArray[np.float32]
    seconds: float


class Turns:
    """The episode's first frame is answered, and then the first frame at which `execute` rows of
    the last chunk have passed.

    `failure`: why the policy gave the present episode up; nothing is asked any more then.
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

    def question(self, fill: bool = False) -> Question | None:
        """What to ask now, if it is the policy's turn and the observation is complete. `fill`: what
        did not come is taken from a neighbouring frame, as where time has gone on without it."""
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
        return Question(sync.episode, stamp, begins, observation)

    def concerns(self, question: Question) -> bool:
        """Whether a question is one of the present episode."""
        return question.episode == self._sync.episode

    def answered(self, question: Question) -> bool:
        """Takes note of an answer; whether it is still of use."""
        if not self.concerns(question):
            return False
        self._answered = question.stamp
        self._newest = -1  # nobody waits but from now on, however long the answer took
        self._due = question.stamp + self._execute * PERIOD
        return True

    def stands_still(self, now: float) -> bool:
        """Whether somebody has been waiting at one instant for long; at `now` (s of wall time)."""
        newest, repeated = self._sync.newest, self._sync.stream.counts.duplicates
        if newest == self._newest and now - self._since <= STILL:
            return False
        still = newest == self._newest and repeated > self._repeated
        self._newest, self._since, self._repeated = newest, now, repeated
        return still

    @property
    def lost(self) -> bool:
        """Whether the newest frame is one that was answered."""
        return 0 <= self._answered == self._sync.newest

    def hurry(self) -> None:
        """The newest frame may be answered, though its turn had not come."""
        self._due = min(self._due, self._sync.newest)


class Thinker:
    """One question at a time, in a thread of its own.

    Args:
        done: called in that thread when there is something to `take`.
    """

    def __init__(self, done: Callable[[], object]) -> None:
        self._done: Callable[[], object] = done
        self._thread = ThreadPoolExecutor(1, "policy")
        self._future: Future[Answer] | None = None

    @property
    def busy(self) -> bool:
        """Whether an answer is being made, or waits to be taken."""
        return self._future is not None

    def ask(self, policy: Policy, question: Question) -> None:
        """Begins to answer; only while it is not busy."""
        assert self._future is None
        self._future = self._thread.submit(_answer, policy, question)
        self._future.add_done_callback(lambda future: self._done())

    def take(self) -> Answer | None:
        """The answer, once, if there is one. Errors: what the policy raised."""
        if self._future is None or not self._future.done():
            return None
        future, self._future = self._future, None
        return future.result()

    def close(self) -> None:
        """No more questions; does not wait for the last one's answer, which nobody hears of."""
        self._done = lambda: None
        self._thread.shutdown(wait=False, cancel_futures=True)


def _answer(policy: Policy, question: Question) -> Answer:
    began = time.perf_counter()
    if question.begins:
        policy.reset()
    rows = check_chunk(policy.infer(question.observation))
    return Answer(question, rows, time.perf_counter() - began)
