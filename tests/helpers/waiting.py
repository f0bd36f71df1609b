"""Wait for a condition, with a generous limit."""

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 180.0
"""Wall time after which an expected event has failed, s."""


def wait_for(
    condition: Callable[[], Any],
    what: str = "the condition",
    turn: Callable[[], object] = lambda: time.sleep(0.02),
) -> Any:
    """Call `turn` until the condition has a true result, and return it; fail after PATIENCE."""
    end = time.monotonic() + PATIENCE
    while not (result := condition()):
        assert time.monotonic() < end, f"{what}: not within {PATIENCE:g} s"
        turn()
    return result
