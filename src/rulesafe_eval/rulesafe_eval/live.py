"""Watches one episode while it is played: its facts, forces and touches, and why it failed."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.chunks import PERIOD
from rulesafe_demos.film.episode import Watch
from rulesafe_demos.film.summary import EpisodeResult
from rulesafe_demos.filming import snapshot_of
from rulesafe_locks.rules import PARTS
from rulesafe_sim.simulation import Simulation

TOUCH = 0.5
"""Force from which on a part counts as touched, N: above what resting contacts read."""

CAUSES = {
    "out_of_reach": "the arm reaches none of the places drawn for the safe: nothing was played",
    "dead_end": "a move spoiled the lock: nothing opens the door any more",
    "wrong_move": "after the best moment parts moved that led no nearer to the open door",
    "not_moved": "the part that was due was touched, and did not come into its other phase",
    "not_touched": "the part that was due was never touched",
}
"""Why an episode failed, by what happened after the moment nearest to the open door."""


class PolicyBroke(Exception):
    """A policy raised an exception, at a frame of the episode that is played.

    Attributes:
        frame: how many were played before.
        trace: the exception with its traceback, without frames of this package; some lines.
    """

    def __init__(self, frame: int, trace: str):
        super().__init__(frame, trace)
        self.frame, self.trace = frame, trace


@dataclass
class Live:
    """One episode. Call `see` after the reset and after each frame.

    Attributes:
        actions: (13,) each, rad: what was executed, frame by frame.
        clipped: rows of chunks that were out of the joints' limits before they were executed.
        inferences: wall time of each question to a policy, s.
        retries: of the planner's moves.
    """

    simulation: Simulation
    time_limit: float
    actions: list[NDArray[np.float64]] = field(default_factory=list)
    inferences: list[float] = field(default_factory=list)
    retries: int = 0
    clipped: int = 0

    def __post_init__(self) -> None:
        self._watch = Watch(self.time_limit)
        self._nearest = -1.0
        self._touched: list[str] = []  # in order, since the best moment
        self._touched_last = ""
        self._peak = (0.0, "")
        self._changes_at_best = 0
        self._changes = 0
        self._open = dict.fromkeys(PARTS, False)
        self._reached: dict[int, int] = {}
        self._look()

    @property
    def over(self) -> bool:
        """The door is open, or time is up."""
        return self._watch.result is not None

    def step(self, action: ArrayLike) -> bool:
        """Executes one frame's targets (13,), rad, and looks; whether the episode goes on."""
        row = np.array(action, np.float64)
        self.actions.append(row)
        self.simulation.step(row)
        self._look()
        return not self.over

    def give_up(self, reason: str) -> None:
        """The actor has ended before its time."""
        self._watch.give_up(reason)

    def _look(self) -> None:
        simulation = self.simulation
        now = snapshot_of(simulation)
        self._watch.see(simulation.frame * PERIOD, now, waiting=False)
        self._changes += sum(now.part_open[part] != self._open[part] for part in PARTS)
        self._open = dict(now.part_open)
        if now.order_free_score > self._nearest:
            self._nearest, self._touched = now.order_free_score, []
            self._changes_at_best = self._changes
        if now.steps_done:
            self._reached.setdefault(now.steps_done, now.frame)
        for name, force in simulation.state().contact_forces.items():
            if name == "self" or force < TOUCH:
                continue
            self._peak = max(self._peak, (force, name))
            self._touched_last = name
            if name not in self._touched:
                self._touched.append(name)

    @property
    def result(self) -> EpisodeResult:
        """How it ended; only once it is over, or was given up."""
        assert self._watch.result is not None, "the episode goes on"
        return self._watch.result

    def facts(self) -> dict[str, Any]:
        """The episode as results.jsonl keeps it, but for its timing: equal for equal episodes."""
        result, progress = self.result, self.simulation.progress
        facts = asdict(result)
        del facts["wall_time"], facts["outcome"]
        failed = {} if result.opened else self._failure(progress.remaining)
        return facts | {
            "clipped_actions": result.clipped_actions + self.clipped,
            "failed_step": 0 if result.opened else result.steps_done + 1,
            "failed_event": "" if result.opened else result.plan[result.steps_done],
            "cause": failed.get("cause", ""),
            "due": failed.get("due", ""),
            "touched": failed.get("touched", []),
            "touched_last": self._touched_last,
            "peak_force": round(self._peak[0], 1),
            "peak_force_on": self._peak[1],
            "reached": [self._reached.get(k + 1) for k in range(result.steps_done)],
            "retries": self.retries,
            "inferences": len(self.inferences),
        }

    def _failure(self, remaining: list[str]) -> dict[str, Any]:
        due = remaining[0] if remaining else ""
        if not due:
            cause = "dead_end"
        elif self._changes > self._changes_at_best:
            cause = "wrong_move"
        else:
            # A hand pulls the door by the handle.
            holds = ("door", "handle") if due == "door+" else (due[:-1],)
            touched = any(part in self._touched for part in holds)
            cause = "not_moved" if touched else "not_touched"
        return {"cause": cause, "due": due, "touched": self._touched}
