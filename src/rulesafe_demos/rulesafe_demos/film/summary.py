"""What an evaluation found: facts of an instant, results of episodes, summary.json. No ROS here.

summary.json::

    format          1
    created         UTC time, ISO 8601
    versions        rulesafe, python, numpy, sapien; platform
    time_limit      s of simulated time an episode may take
    totals          episodes, opened, success_rate, mean_process_score, mean_order_free_score
    episodes        a list; each with the fields of `EpisodeResult`, and
                    "outcome": the line that was printed
"""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from statistics import fmean

from rulesafe_core.versions import installed

FORMAT = 1


@dataclass(frozen=True)
class Snapshot:
    """The facts of an episode at one instant."""

    rule: str
    safe: str
    seed: int
    plan: tuple[str, ...]  # events, such as "knob+"
    steps_done: int
    process_score: float
    order_free_score: float
    part_open: Mapping[str, bool]
    success: bool
    frame: int  # 10 Hz frames since the reset
    time: float  # s of simulated time since the reset
    clipped_actions: int
    state_digest: str

    @property
    def title(self) -> str:
        return f"{self.rule} on {self.safe}, seed {self.seed}"

    @property
    def next_step(self) -> str:
        """The step that is due, as "step 2 (handle+)"."""
        if self.steps_done >= len(self.plan):
            return "the end"
        return f"step {self.steps_done + 1} ({self.plan[self.steps_done]})"


@dataclass(frozen=True)
class PhaseChange:
    """A part that was opened or closed."""

    event: str  # such as "knob+"
    time: float  # s of simulated time since the reset


def changes(before: Mapping[str, bool], now: Snapshot) -> list[PhaseChange]:
    """What has changed since the phases `before`."""
    return [
        PhaseChange(part + ("+" if is_open else "-"), now.time)
        for part, is_open in now.part_open.items()
        if is_open != before.get(part, False)
    ]


class Finish:
    """The clock of a film: it stops when the door opens, while the picture goes on, so that it
    ends with the time that the result tells."""

    def __init__(self) -> None:
        self._opened: float | None = None  # s of simulated time since the reset

    def stopped(self, now: Snapshot) -> Snapshot:
        """These facts, at the time of the first success if that has been; in order of time."""
        if not now.success:
            return now
        self._opened = now.time if self._opened is None else self._opened
        return replace(now, time=self._opened)


@dataclass(frozen=True)
class EpisodeResult:
    """An episode as it ended."""

    rule: str
    safe: str
    seed: int
    opened: bool
    reason: str  # why it failed; empty if the door was opened
    plan: tuple[str, ...]
    steps_done: int
    process_score: float
    order_free_score: float
    events: tuple[PhaseChange, ...]
    frames: int  # 10 Hz frames
    simulated_time: float  # s
    wall_time: float  # s
    clipped_actions: int
    state_digest: str  # equal for equal runs
    outcome: str

    @staticmethod
    def of(
        end: Snapshot, events: Sequence[PhaseChange], wall_time: float, reason: str = ""
    ) -> "EpisodeResult":
        """The result of an episode that ended at `end`; without success, for a `reason`."""
        return EpisodeResult(
            rule=end.rule,
            safe=end.safe,
            seed=end.seed,
            opened=end.success,
            reason="" if end.success else reason,
            plan=tuple(end.plan),
            steps_done=end.steps_done,
            process_score=end.process_score,
            order_free_score=end.order_free_score,
            events=tuple(events),
            frames=end.frame,
            simulated_time=end.time,
            wall_time=wall_time,
            clipped_actions=end.clipped_actions,
            state_digest=end.state_digest,
            outcome=outcome(end, wall_time, reason),
        )


def outcome(end: Snapshot, wall_time: float, reason: str = "") -> str:
    """The line that a run ends with."""
    if end.success:
        how = f"opened, {end.steps_done}/{len(end.plan)} steps"
    else:
        how = f"failed at {end.next_step}: {reason}"
    return (
        f"{end.title}: {how}, {end.frame} frames, {end.time:.1f} s simulated in {wall_time:.0f} s"
    )


def versions() -> dict[str, str]:
    """Versions of what the result rests on, and the machine's kind."""
    machine = {"python": platform.python_version(), "platform": platform.platform()}
    return machine | installed(("rulesafe", "numpy", "sapien"))


def results_folder(out: str | Path | None) -> Path:
    """Where results go: `out`, or runs/ and the date and time."""
    return Path(out or Path("runs", datetime.now().strftime("%Y-%m-%d_%H-%M-%S"))).absolute()


def write_summary(path: Path, results: Sequence[EpisodeResult], time_limit: float) -> None:
    """Writes summary.json; see the module's docstring."""
    content = {
        "format": FORMAT,
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "versions": versions(),
        "time_limit": time_limit,
        "totals": totals(results),
        "episodes": [asdict(result) for result in results],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")


def totals(results: Sequence[EpisodeResult]) -> dict[str, float]:
    """Counts and means over episodes; the means are 0 without any."""
    opened = sum(result.opened for result in results)
    return {
        "episodes": len(results),
        "opened": opened,
        "success_rate": opened / len(results) if results else 0.0,
        "mean_process_score": fmean([r.process_score for r in results]) if results else 0.0,
        "mean_order_free_score": fmean([r.order_free_score for r in results]) if results else 0.0,
    }
