"""Bars in a log: few lines, each of them whole."""

import io

import pytest

from rulesafe_data import bars
from rulesafe_data.bars import SECONDS, ProgressBar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Wall time that stands still until it is set."""
    now = [0.0]
    monkeypatch.setattr(bars.time, "monotonic", lambda: now[0])
    return now


def lines(capsys):
    err = capsys.readouterr().err
    assert "\r" not in err and (not err or err.endswith("\n"))
    return err.splitlines()


def test_a_log_gets_a_line_now_and_then(capsys, clock):
    with ProgressBar(total=100, unit="episode") as bar:
        assert len(lines(capsys)) == 1
        for number in range(100):
            clock[0] = number * SECONDS / 25
            bar.update()
            bar.set_postfix_str(f"{number} opened")  # which tqdm shows at once
        assert len(lines(capsys)) == 3  # at 30, 60 and 90 s
    (last,) = lines(capsys)
    assert "100/100" in last and "99 opened" in last


def test_a_training_bar_does_so_too(capsys, clock):
    from rulesafe_data.bars import training_bar

    with training_bar(50, "step") as tell:
        for step in range(1, 51):
            tell(step, f"loss {step}")
    first, last = lines(capsys)
    assert "0/50" in first and "50/50" in last and "loss 50" in last


def test_what_is_not_shown_says_nothing(capsys):
    with ProgressBar(total=2, disable=None) as bar:  # tqdm's word for: on a terminal alone
        bar.update()
    assert not lines(capsys)


def test_on_a_terminal_a_line_is_written_over(monkeypatch):
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    with ProgressBar(total=2) as bar:
        bar.update()
        bar.refresh()
    assert shown.getvalue().count("\r") >= 2 and shown.getvalue().count("\n") == 1
