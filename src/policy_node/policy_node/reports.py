"""Statistics that the policy node publishes on /diagnostics each second."""

from dataclasses import asdict, dataclass, field

import numpy as np

from policy_node.synchroniser import Synchroniser


@dataclass
class ReportPeriod:
    """Statistics since the last report.

    Attributes:
        since: wall time of the last report, s.
        latencies: inference time of each chunk, s of wall time.
        stale: number of chunks that were discarded since another episode had begun.
        warning: the last warning; empty if there was none.
    """

    since: float
    latencies: list[float] = field(default_factory=list)
    stale: int = 0
    warning: str = ""

    def values(self, now: float, sync: Synchroniser) -> dict[str, object]:
        """Return the values for /diagnostics at `now` (s of wall time): rates, latencies, and the
        counts of the synchroniser since the node was activated."""
        seconds = max(now - self.since, 1e-3)
        milliseconds = 1e3 * np.array(self.latencies or [0.0])
        counts = asdict(sync.counts) | asdict(sync.stream.counts)
        return {
            "chunk rate (Hz)": f"{len(self.latencies) / seconds:.2f}",
            "latency of a chunk, mean (ms)": f"{milliseconds.mean():.1f}",
            "latency of a chunk, worst (ms)": f"{milliseconds.max():.1f}",
            "chunks of a past episode": self.stale,
            "episodes": sync.episode,
        } | {key.replace("_", " "): count for key, count in counts.items()}
