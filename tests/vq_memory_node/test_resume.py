"""Signals during a training run."""

import signal
import threading

import pytest

pytest.importorskip("torch")

from vq_memory_node.resume import deferred_signals


def test_the_first_signal_is_deferred_and_the_second_is_not():
    with pytest.raises(KeyboardInterrupt), deferred_signals() as received:
        signal.raise_signal(signal.SIGINT)
        assert received == [signal.SIGINT]
        signal.raise_signal(signal.SIGINT)


def test_an_ignored_signal_remains_ignored():
    """As in a background job of a shell script."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with deferred_signals() as received:
            signal.raise_signal(signal.SIGINT)
        assert received == [] and signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_another_thread_may_train():
    found = []

    def train():
        with deferred_signals() as received:
            found.append(received)

    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert found == [[]]
