"""Termination signals collected for an ordered shutdown, for example of a training run."""

import signal
import threading

import pytest

from rulesafe_core.signals import collected_signals


def test_the_first_signal_is_deferred_and_the_second_is_not():
    with pytest.raises(KeyboardInterrupt), collected_signals(once=True) as received:
        signal.raise_signal(signal.SIGINT)
        assert received == [signal.SIGINT]
        signal.raise_signal(signal.SIGINT)


def test_an_ignored_signal_remains_ignored():
    """As in a background job of a shell script."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with collected_signals(once=True) as received:
            signal.raise_signal(signal.SIGINT)
        assert received == [] and signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_another_thread_may_train():
    found = []

    def train():
        with collected_signals(once=True) as received:
            found.append(received)

    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert found == [[]]
