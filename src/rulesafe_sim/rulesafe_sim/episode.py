"""Episode data: snapshots of the task state, and the record of the outcome.

Independent of the simulation, since records are also created from ROS messages and bags.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.locks import Rule
from rulesafe_locks.plans import shortest_plan

DEFAULT_SPLIT = "nominal"
"""Split of episodes for which none is named."""

SECONDS_A_STEP = 20.0
"""Simulated time limit for each event of the rule's shortest plan, s. The slowest of 200
demonstrations in the split varied took 9.1 s per step."""


def time_limit(rule: Rule, step_seconds: float = SECONDS_A_STEP) -> float:
    """Return the time limit of an episode, s, which is proportional to the rule's shortest plan.

    Args:
        rule: rule of the episode.
        step_seconds: simulated time for each event of the shortest plan, s.

    Raises:
        RuleSafeError: step_seconds is not positive, or no sequence of events opens the door.
    """
    if not step_seconds > 0:
        raise RuleSafeError(f"step_seconds must be more than 0 s, got {step_seconds:g}")
    # Rounded to ns: 3 * 0.2 s would end one frame after 0.6 s.
    return round(step_seconds * len(shortest_plan(rule)), 9)


class AgentError(RuleSafeError):
    """The agent cannot continue; the message is the reason."""


MISS = "miss"
"""Operation of an expert that deliberately misses a part, or loses it during the motion."""

POLICY = "policy"
"""Operation of a policy that makes a demonstration with the expert, which corrects it."""


@dataclass(frozen=True)
class Activity:
    """Current activity of the robot.

    `step`: step of the plan, from 1. `event`: event of this step, such as "knob+". `attempt`: from
    1; above 1: a retry. `operation`: travel, approach, pinch, turn, pull, release, retreat, hand,
    wait, MISS or POLICY.
    """

    step: int = 0
    event: str = ""
    attempt: int = 0
    operation: str = "wait"


@dataclass
class AgentLog:
    """Log of an agent in an episode.

    Attributes:
        steps: one line per attempt at a step.
        events: events that the agent achieved, such as "knob+".
        retries: number of repeated attempts, over all steps.
        targets: number of targets in chunks, including steps that are not executed.
        clipped_actions: number of targets clipped to the joint limits before execution.
        planning_seconds: wall time of planning, s.
        inference_seconds: wall time of each inference, s.
    """

    steps: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    retries: int = 0
    targets: int = 0
    clipped_actions: int = 0
    planning_seconds: float = field(default=0.0, compare=False)
    inference_seconds: list[float] = field(default_factory=list, compare=False)


@dataclass(frozen=True)
class TaskSnapshot:
    """State of the task at one time; the defaults are the state before the first frame."""

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
    state_digest: str = ""  # equal for bit-identical runs

    @property
    def title(self) -> str:
        return f"{self.rule} on {self.safe}, seed {self.seed}"

    @property
    def next_step(self) -> str:
        """The next step of the plan, such as "step 2 (handle+)"."""
        if self.steps_done >= len(self.plan):
            return "the end"
        return f"step {self.steps_done + 1} ({self.plan[self.steps_done]})"


@dataclass(frozen=True)
class PhaseChange:
    """Event of a part being opened or closed."""

    event: str  # such as "knob+"
    time: float  # s of simulated time since the reset


def changes(before: Mapping[str, bool], now: TaskSnapshot) -> list[PhaseChange]:
    """Return the phase changes from `before` to `now`."""
    return [
        PhaseChange(part + ("+" if is_open else "-"), now.time)
        for part, is_open in now.part_open.items()
        if is_open != before.get(part, False)
    ]


@dataclass(frozen=True)
class EpisodeRecord(TaskSnapshot):
    """Outcome of an episode: the last snapshot, its events and the reason of a failure."""

    reason: str = ""  # why it failed; empty if the door was opened
    events: tuple[PhaseChange, ...] = ()
    wall_time: float = field(default=0.0, compare=False)  # s
    log: AgentLog = field(default_factory=AgentLog)

    @property
    def outcome(self) -> str:
        """One-line summary of the episode."""
        result = f"opened, {self.steps_done}/{len(self.plan)} steps"
        if not self.success:
            result = f"failed at {self.next_step}: {self.reason}"
        seconds = f"{self.time:.1f} s simulated in {self.wall_time:.0f} s"
        return f"{self.title}: {result}, {self.frame} frames, {seconds}"

    def to_dict(self) -> dict[str, Any]:
        """Convert to the format of result files, without the episode's head, times and the log."""
        return {
            "opened": self.success,
            "reason": self.reason,
            "plan": self.plan,
            "steps_done": self.steps_done,
            "process_score": self.process_score,
            "order_free_score": self.order_free_score,
            "events": [asdict(event) for event in self.events],
            "frames": self.frame,
            "simulated_time": self.time,
            "clipped_actions": self.clipped_actions,
            "state_digest": self.state_digest,
        }


class EpisodeTracker:
    """Tracks an episode from snapshots in chronological order.

    Attributes:
        now: the last snapshot; None before the first.
        record: the outcome; None until the door is open, `time_limit` (simulated s) has passed, or
            `end` is called.
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
        """End the episode at the last snapshot; `reason` is stored if the door is not open."""
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
