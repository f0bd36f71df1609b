"""Changes of the memory that a policy receives, as control experiments."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Change = Callable[[NDArray[Any], np.random.Generator], NDArray[Any]]
"""A change of the observed values of a memory. It receives them, oldest first, and a random
generator, which is seeded again for each episode, and returns as many values or fewer: the newest
ones."""

DELAY = 3
"""Number of values, 2 s apart, that a delayed memory lacks."""

NEWEST = 10
"""Number of values, 2 s apart, that a truncated memory has."""


def _perturbed(values: NDArray[Any], random: np.random.Generator) -> NDArray[Any]:
    """Replace the middle third by values drawn at random from all."""
    third, changed = len(values) // 3, values.copy()
    changed[third : 2 * third] = random.choice(values, third)
    return changed


CHANGES: dict[str, Change] = {
    "shuffled": lambda values, random: random.permutation(values),
    "delayed": lambda values, random: values[: max(1, len(values) - DELAY)],
    "truncated": lambda values, random: values[-NEWEST:],
    "perturbed": _perturbed,
}
"""Changes by name. shuffled: permuted in time, which keeps the contents and removes the order;
delayed: without the newest values, but not empty; truncated: only the newest values; perturbed:
those in the middle third are replaced by random ones of all."""

ANOTHER = "another"
"""The memory of another episode, see `interference.another_episode`."""

CONTROLS = ("none", *CHANGES, ANOTHER)
"""Names of all controls."""
