"""Statistics that a node publishes on /diagnostics each second."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np


@dataclass
class ReportPeriod:
    """Statistics since the last report.

    Attributes:
        since: wall time of the last report, s.
        inputs: number of received messages.
        latencies: latency of each output, s of wall time.
        warning: the last warning; empty if there was none.
    """

    since: float
    inputs: int = 0
    latencies: list[float] = field(default_factory=list)
    warning: str = ""

    def values(self, output: str, now: float) -> dict[str, object]:
        """Return rates and latencies at `now` (s of wall time); `output`: "chunk" or the like."""
        seconds = max(now - self.since, 1e-3)
        milliseconds = 1e3 * np.array(self.latencies or [0.0])
        return {
            "input rate (Hz)": f"{self.inputs / seconds:.2f}",
            f"{output} rate (Hz)": f"{len(self.latencies) / seconds:.2f}",
            f"latency of a {output}, mean (ms)": f"{milliseconds.mean():.3f}",
            f"latency of a {output}, worst (ms)": f"{milliseconds.max():.3f}",
        }


def counted(counts: Any) -> dict[str, object]:
    """Return the fields of a dataclass of counts with their names as words."""
    return {key.replace("_", " "): count for key, count in asdict(counts).items()}
