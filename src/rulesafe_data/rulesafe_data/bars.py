"""Bars of long commands: on a terminal tqdm's, in a log a line now and then."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

SECONDS = 30.0
"""Between two lines of a log at least, s."""


class ProgressBar(tqdm):
    """tqdm, which elsewhere than on a terminal writes lines that stay: one at the beginning, one
    each SECONDS where something was done, and one at the end."""

    def __init__(self, *args: Any, **words: Any):
        self._log = not sys.stderr.isatty()
        self._told, self._line = float("-inf"), ""
        super().__init__(*args, **{"dynamic_ncols": True, **words})

    def display(self, msg: str | None = None, pos: int | None = None) -> bool | None:
        """What tqdm calls whenever something is new."""
        if not self._log:
            shown: bool | None = super().display(msg, pos)
            return shown
        if time.monotonic() - self._told >= SECONDS:
            self._tell()
        return True

    def close(self) -> None:
        """Ends the bar with a last line."""
        if self._log and not self.disable:
            self._tell()
            self.delay = float("inf")  # for tqdm there was nothing yet that it would have to end
        super().close()

    def _tell(self) -> None:
        self._told, before, self._line = time.monotonic(), self._line, str(self)
        if self._line != before:
            print(self._line, file=sys.stderr, flush=True)


@contextmanager
def training_bar(steps: int, unit: str) -> Iterator[Callable[[int, str], None]]:
    """Show the progress of a training that may have begun in an earlier run.

    What it yields takes the number of steps done and a text.
    """
    with ProgressBar(total=steps, unit=unit, mininterval=0.5) as bar:

        def show(step: int, text: str) -> None:
            bar.set_postfix_str(text, refresh=False)
            # Resumed, the steps that were done before do not count for the time left.
            bar.initial = bar.initial or step - 1
            bar.n = max(bar.n, step - 1)
            bar.update()

        yield show
