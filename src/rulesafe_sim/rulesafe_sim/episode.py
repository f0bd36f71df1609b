"""An episode as data: the state of the task at one instant, and the record of how it ended.

No simulation here: records are also made from ROS messages and from bags.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rulesafe_core.errors import RuleSafeError


class Stuck(RuleSafeError):
    """The agent cannot go on; the message is the reason."""


@dataclass(frozen=True)
class Activity:
    """What the robot does: the step of the plan (from 1) and its event such as "knob+", the
    attempt at it (from 1; above 1: a retry), and the operation: travel, approach, pinch, turn,
    pull, release, retreat, hand or wait."""

    step: int = 0
    event: str = ""
    attempt: int = 0
    operation: str = "wait"


@dataclass
class AgentLog:
    """What an agent did in an episode.

    Attributes:
        steps: a line for each attempt at a step.
        events: those that were brought about, such as "knob+".
        retries: attempts after the first, of all steps.
        clipped_actions: targets out of the joints' limits before they were executed.
        planning_seconds: wall time.
        inference_seconds: wall time of each inference.
    """

    steps: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    retries: int = 0
    clipped_actions: int = 0
    planning_seconds: float = field(default=0.0, compare=False)
    inference_seconds: list[float] = field(default_factory=list, compare=False)


@dataclass(frozen=True)
class TaskSnapshot:
    """The state of the task at one instant; by default that before the first frame."""

    rule: str
    safe: str = ""
    seed: int = 0
    plan: tuple[str, ...] = ()  # events, such as "knob+"
    steps_done: int = 0
    process_score: float = 0.0
    order_free_score: float = 0.0
    part_open: Mapping[str, bool] = field(default_factory=dict)
    success: bool = False
    frame: int = 0  # 10 Hz frames since the reset
    time: float = 0.0  # s of simulated time since the reset
    clipped_actions: int = 0
    state_digest: str = ""  # equal for equal runs

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


def changes(before: Mapping[str, bool], now: TaskSnapshot) -> list[PhaseChange]:
    """Return the differences of `now` to the phases `before`."""
    return [
        PhaseChange(part + ("+" if is_open else "-"), now.time)
        for part, is_open in now.part_open.items()
        if is_open != before.get(part, False)
    ]


@dataclass(frozen=True)
class EpisodeRecord(TaskSnapshot):
    """The outcome of an episode: its last snapshot, and how it came to that."""

    reason: str = ""  # why it failed; empty if the door was opened
    events: tuple[PhaseChange, ...] = ()
    wall_time: float = field(default=0.0, compare=False)  # s
    log: AgentLog = field(default_factory=AgentLog)

    @property
    def outcome(self) -> str:
        """The line that a run ends with."""
        how = f"opened, {self.steps_done}/{len(self.plan)} steps"
        if not self.success:
            how = f"failed at {self.next_step}: {self.reason}"
        seconds = f"{self.time:.1f} s simulated in {self.wall_time:.0f} s"
        return f"{self.title}: {how}, {self.frame} frames, {seconds}"

    def to_dict(self) -> dict[str, Any]:
        """Return the record as result files have it, without its log."""
        return {
            "rule": self.rule,
            "safe": self.safe,
            "seed": self.seed,
            "opened": self.success,
            "reason": self.reason,
            "plan": self.plan,
            "steps_done": self.steps_done,
            "process_score": self.process_score,
            "order_free_score": self.order_free_score,
            "events": [asdict(event) for event in self.events],
            "frames": self.frame,
            "simulated_time": self.time,
            "wall_time": self.wall_time,
            "clipped_actions": self.clipped_actions,
            "state_digest": self.state_digest,
            "outcome": self.outcome,
        }


class EpisodeTracker:
    """Follows an episode by snapshots in order of time.

    Attributes:
        now: the last snapshot, None before the first.
        record: None until the door is open, `time_limit` (simulated s) is over, or `end` was
            called.
    """

    def __init__(self, time_limit: float):
        self.now: TaskSnapshot | None = None
        self.record: EpisodeRecord | None = None
        self._time_limit = time_limit
        self._began = time.monotonic()
        self._events: list[PhaseChange] = []

    def update(self, now: TaskSnapshot) -> None:
        self._events += changes(self.now.part_open if self.now else {}, now)
        self.now = now
        if self.record is None and (now.success or now.time >= self._time_limit):
            self.end(f"time limit of {self._time_limit:g} s")

    def end(self, reason: str, log: AgentLog | None = None) -> EpisodeRecord:
        """End the episode at the last snapshot; `reason` counts if the door is not open."""
        assert self.now is not None, "no snapshot of the episode yet"
        log = log or AgentLog()
        facts = vars(self.now) | {
            "clipped_actions": self.now.clipped_actions + log.clipped_actions,
            "reason": "" if self.now.success else reason,
            "events": tuple(self._events),
            "wall_time": time.monotonic() - self._began,
        }
        self.record = EpisodeRecord(**facts, log=log)
        return self.record
