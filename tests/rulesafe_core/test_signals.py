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


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ("HUP HUP", "HUP"),
        ("HUP HUP QUIT HUP", "QUIT"),
        ("INT HUP", "INT"),
        ("HUP INT INT", "INT INT"),
    ],
)
def test_a_closed_terminal_does_not_count_as_a_second_signal(sent, expected):
    """Kernel, shell and launcher may all report it, before or after another signal."""
    with collected_signals() as received:
        for name in sent.split():
            signal.raise_signal(signal.Signals[f"SIG{name}"])
    assert received == [signal.Signals[f"SIG{name}"] for name in expected.split()]


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
