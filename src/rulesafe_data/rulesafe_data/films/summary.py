"""Records of episodes as summary.json.

summary.json::

    format          1
    created         UTC time, ISO 8601
    versions        rulesafe, python, numpy, sapien; platform
    time_limit      simulated time limit of an episode, s; the largest if they differ
    totals          episodes, opened, success_rate, mean_process_score, mean_order_free_score
    episodes        a list with an `EpisodeRecord.to_dict` for each; with benchmark, its name, and
                    variation, if the episode is one of a benchmark
"""

import json
import platform
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from statistics import fmean
from typing import Any

from rulesafe_core.versions import installed
from rulesafe_sim.episode import EpisodeRecord

FORMAT = 1


def versions() -> dict[str, str]:
    """Return the versions that may change the result, and the platform."""
    machine = {"python": platform.python_version(), "platform": platform.platform()}
    return machine | installed(("rulesafe", "numpy", "sapien"))


def results_folder(out: str | Path | None) -> Path:
    """Return the folder of the results: `out`, or by default runs/(date and time)."""
    return Path(out or Path("runs", datetime.now().strftime("%Y-%m-%d_%H-%M-%S"))).absolute()


def write_summary(
    path: Path,
    results: Sequence[EpisodeRecord],
    time_limit: float,
    facts: Sequence[Mapping[str, Any]] | None = None,
) -> None:
    """Write summary.json; see the module's docstring. `facts`: further entries of each episode."""
    more = [{}] * len(results) if facts is None else facts
    content = {
        "format": FORMAT,
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "versions": versions(),
        "time_limit": time_limit,
        "totals": totals(results),
        "episodes": [r.to_dict() | dict(entries) for r, entries in zip(results, more, strict=True)],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")


def totals(results: Sequence[EpisodeRecord]) -> dict[str, float]:
    """Return counts and means over episodes; means are 0 without any episodes."""
    opened = sum(result.success for result in results)
    return {
        "episodes": len(results),
        "opened": opened,
        "success_rate": opened / len(results) if results else 0.0,
        "mean_process_score": fmean([r.process_score for r in results]) if results else 0.0,
        "mean_order_free_score": fmean([r.order_free_score for r in results]) if results else 0.0,
    }
