"""The progress of a training that may have begun in an earlier run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rulesafe_data.bars import Bar


@contextmanager
def training_bar(steps: int, unit: str) -> Iterator[Callable[[int, str], None]]:
    """A bar with rate and time left; what it yields takes the steps done so far and a text."""
    with Bar(total=steps, unit=unit, mininterval=0.5) as bar:

        def show(step: int, text: str) -> None:
            bar.set_postfix_str(text, refresh=False)
            # Resumed, the steps that were done before do not count for the time left.
            bar.initial = bar.initial or step - 1
            bar.n = max(bar.n, step - 1)
            bar.update()

        yield show
