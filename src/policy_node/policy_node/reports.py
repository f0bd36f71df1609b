"""What the policy's node tells of itself each second."""

from dataclasses import asdict, dataclass, field

import numpy as np

from policy_node.synchroniser import Synchroniser


@dataclass
class Second:
    """What happened since the last report.

    Attributes:
        since: s of wall time.
        latencies: of each chunk, s of wall time in the policy's thread.
        stale: chunks that were thrown away, since another episode had begun.
        complaint: the last one.
    """

    since: float
    latencies: list[float] = field(default_factory=list)
    stale: int = 0
    complaint: str = ""

    def values(self, now: float, sync: Synchroniser) -> dict[str, object]:
        """For diagnostics at `now` (s of wall time): rates, latencies, and the synchroniser's
        counts since it was made."""
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
