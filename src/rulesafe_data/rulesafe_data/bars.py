"""Progress bars of long commands: tqdm on a terminal, periodic lines in a log."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

SECONDS = 30.0
"""Minimum time between two lines in a log, s."""


class ProgressBar(tqdm):
    """A tqdm bar that prints lines if stderr is not a terminal: one at the start, one every SECONDS
    if there is progress, and one at the end."""

    def __init__(self, *args: Any, **kwargs: Any):
        self._log = not sys.stderr.isatty()
        self._printed, self._line = float("-inf"), ""
        super().__init__(*args, **{"dynamic_ncols": True, **kwargs})

    def display(self, msg: str | None = None, pos: int | None = None) -> bool | None:
        """Update the display; called by tqdm on changes."""
        if not self._log:
            shown: bool | None = super().display(msg, pos)
            return shown
        if time.monotonic() - self._printed >= SECONDS:
            self._print_line()
        return True

    def close(self) -> None:
        """Close the bar; in a log, print a last line."""
        if self._log and not self.disable:
            self._print_line()
            self.delay = float("inf")  # prevents tqdm from printing its own last line
        super().close()

    def _print_line(self) -> None:
        self._printed, before, self._line = time.monotonic(), self._line, str(self)
        if self._line != before:
            print(self._line, file=sys.stderr, flush=True)


@contextmanager
def training_bar(steps: int, unit: str) -> Iterator[Callable[[int, str], None]]:
    """Show the progress of a training, which may be resumed from an earlier run.

    Yields:
        A function that takes the number of completed steps and a text.
    """
    with ProgressBar(total=steps, unit=unit, mininterval=0.5) as bar:

        def show(step: int, text: str) -> None:
            bar.set_postfix_str(text, refresh=False)
            # Steps of an earlier run are excluded from the estimate of the remaining time.
            bar.initial = bar.initial or step - 1
            bar.n = max(bar.n, step - 1)
            bar.update()

        yield show
