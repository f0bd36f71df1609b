"""A bag written by a thread of its own, so that whoever hears messages never waits for a disk."""

import threading
from collections import Counter, deque
from collections.abc import Callable

from rulesafe_data.bags.metadata import Metadata, Topic
from rulesafe_data.bags.writing import BagWriter

PAUSE = 0.1
"""s that the thread waits for messages before it looks whether others are to be flushed."""


class BackgroundWriter:
    """Takes messages from one thread and writes them in another.

    Args:
        writer: belongs to the thread from now on.
        limit: bytes that may wait to be written; what comes beyond is dropped and counted.

    Attributes:
        overruns: messages that were dropped here, by topic.
        error: why nothing is written any more; None while all is well.
    """

    def __init__(self, writer: BagWriter, limit: int = 256 * 10**6):
        self.overruns: Counter[str] = Counter()
        self.error: Exception | None = None
        self._writer, self._limit = writer, limit
        self._waiting: deque[Callable[[], None]] = deque()
        self._bytes = 0
        self._ends = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="bag writer", daemon=True)
        self._thread.start()

    def add(self, topic: Topic) -> None:
        """A topic, before its messages; again where more is known of it."""
        self._put(lambda: self._writer.add(topic), 0)

    def write(self, topic: str, when: int, published: int, data: bytes) -> bool:
        """A message, see `BagWriter.write`; whether there was room for it."""
        size = len(data)
        if self._bytes + size > self._limit or self.error is not None:
            self.overruns[topic] += 1
            return False

        def write() -> None:
            with self._changed:
                self._bytes -= size
            self._writer.write(topic, when, published, data)

        self._put(write, size)
        return True

    def dropped(self, counts: dict[str, int]) -> None:
        """Messages that got lost so far, by topic, those of `overruns` among them."""
        self._put(lambda: setattr(self._writer, "dropped", counts), 0)

    def _put(self, job: Callable[[], None], size: int) -> None:
        with self._changed:
            self._waiting.append(job)
            self._bytes += size
            self._changed.notify()

    def _run(self) -> None:
        try:
            while True:
                with self._changed:
                    if not self._waiting and not self._ends:
                        self._changed.wait(PAUSE)
                    jobs, self._waiting = self._waiting, deque()
                    ends = self._ends and not jobs
                for job in jobs:
                    job()
                self._writer.tick()
                if ends:
                    return
        except Exception as error:  # told by `close`, and by `error` at once
            self.error = error

    def close(self) -> Metadata:
        """Writes what waits and completes the bag. Errors: RuleSafeError on a full disk."""
        with self._changed:
            self._ends = True
            self._changed.notify()
        self._thread.join()
        if self.error is not None:
            raise self.error
        return self._writer.close()
