"""Write a bag in a background thread, so that the recorder does not wait for the disk."""

import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from queue import Empty, Queue

from rulesafe_data.bags.metadata import Metadata, Topic
from rulesafe_data.bags.writing import BagWriter

FLUSH_PERIOD = 0.1
"""Time without messages (s) after which the thread flushes."""


class BackgroundWriter:
    """Queues messages and writes them in a background thread.

    Args:
        writer: the bag writer, used only by this thread.
        limit: maximum size of the queue in bytes; further messages are dropped and counted.

    Attributes:
        overruns: number of messages dropped because the queue was full, by topic.
        error: the exception that ended the thread, or None.
    """

    def __init__(self, writer: BagWriter, limit: int = 256 * 10**6):
        self.overruns: Counter[str] = Counter()
        self.error: Exception | None = None
        self._writer, self._limit = writer, limit
        self._jobs: Queue[Callable[[], object] | None] = Queue()
        self._bytes = 0
        self._lock = threading.Lock()  # protects _bytes
        self._thread = threading.Thread(target=self._run, name="bag writer", daemon=True)
        self._thread.start()

    def add(self, topic: Topic) -> None:
        """Add a topic before its messages, or replace its description."""
        self._jobs.put(partial(self._writer.add, topic))

    def write(self, topic: str, when: int, published: int, data: bytes) -> bool:
        """Queue a message (see `BagWriter.write`); return False if it was dropped."""
        with self._lock:
            accepted = self._bytes + len(data) <= self._limit and self.error is None
            if accepted:
                self._bytes += len(data)
        if accepted:
            self._jobs.put(partial(self._write, topic, when, published, data))
        else:
            self.overruns[topic] += 1
        return accepted

    def _write(self, topic: str, when: int, published: int, data: bytes) -> None:
        with self._lock:
            self._bytes -= len(data)
        self._writer.write(topic, when, published, data)

    def dropped(self, counts: dict[str, int]) -> None:
        """Set the number of lost messages by topic, including `overruns`."""
        self._jobs.put(partial(setattr, self._writer, "dropped", counts))

    def _run(self) -> None:
        try:
            while True:
                try:
                    job = self._jobs.get(timeout=FLUSH_PERIOD)
                except Empty:
                    job = self._writer.tick
                if job is None:
                    return
                job()
        except Exception as error:  # raised by `close`
            self.error = error

    def close(self) -> Metadata:
        """Write queued messages and complete the bag. Raises RuleSafeError on a full disk."""
        self._jobs.put(None)
        self._thread.join()
        if self.error is not None:
            raise self.error
        return self._writer.close()
