"""The memory part of `make bench`: time per frame, with and without a token, and bytes."""

import numpy as np

from rulesafe_studies.bench.commands import BenchOptions
from rulesafe_studies.measuring import Measure
from rulesafe_studies.memory.cost import measure_apart


def measured(options: BenchOptions) -> list[Measure]:
    """Return the time of one frame in a memory, in a process with one core and one thread, and the
    memory's size. Raises RuleSafeError if the model does not exist."""
    cost = measure_apart(options.model, max(20, round(50 * options.seconds)))
    return [
        *(
            Measure.of(name, "us", 1000 * ms, f"p99 {np.percentile(1000 * ms, 99):.0f}")
            for name, ms in cost.times.items()
        ),
        *(Measure.of(f"held by {name}", "kB", [kb]) for name, kb in cost.memory_kb.items()),
    ]
