"""Causes of failure, from forces, touched parts and phase changes recorded after each frame."""

from collections.abc import Container, Mapping, Sequence
from math import inf
from typing import Any

from numpy.typing import NDArray

from rulesafe_locks.rules import PARTS
from rulesafe_sim.episode import Activity, EpisodeRecord, TaskSnapshot
from rulesafe_sim.simulation import Simulation

TOUCH = 0.5
"""Smallest force (N) at which a part counts as touched; resting contacts stay below it."""

CAUSES = {
    "out_of_reach": "the safe was out of the arm's reach at all sampled poses: no episode was run",
    "dead_end": "a wrong move led to a lock state from which the door cannot be opened any more",
    "wrong_move": "after the best state, parts moved without progress towards the open door",
    "not_moved": "the next part was touched, but did not change its phase",
    "not_touched": "the next part was never touched",
}
"""Cause of failure -> description; causes refer to the time after the state nearest to success; if
a part was turned back, only states from then on count."""


class Diagnosis:
    """Diagnosis of one episode: a subscriber in process, elsewhere `update` is called. Without any
    call the cause is "out_of_reach".

    Attributes:
        actions: (13,) each, rad: the executed actions, frame by frame.
    """

    def __init__(self) -> None:
        self.actions: list[NDArray] = []
        self._due: str | None = None  # the next event; empty: a dead end; None: not notified
        self._remaining: float = inf  # fewest events to the open door, at the best moment
        self._touched: list[str] = []  # in order, since the best moment
        self._touched_last = ""
        self._peak = (0.0, "")
        self._changes_at_best = 0
        self._changes = 0
        self._open = dict.fromkeys(PARTS, False)
        self._reached: dict[int, int] = {}

    def __call__(self, simulation: Simulation, action: NDArray | None, activity: Activity) -> None:
        if action is not None:
            self.actions.append(action)
        remaining, forces = simulation.progress.remaining, simulation.state().contact_forces
        self.update(simulation.snapshot(), remaining, forces, simulation.external_torques)

    def update(
        self,
        now: TaskSnapshot,
        remaining: Sequence[str],
        forces: Mapping[str, float],
        turned_back: Container[str] = (),
    ) -> None:
        """Take the state after a frame.

        Args:
            now: the state of the task.
            remaining: fewest events that open the door; empty if it is open or cannot be opened.
            forces: contact forces on the robot by name, N.
            turned_back: parts that a disturbance turns.
        """
        changed = {part for part in PARTS if now.part_open[part] != self._open[part]}
        self._changes += len(changed)
        self._open = dict(now.part_open)
        if any(part in turned_back for part in changed):  # a step must be repeated
            self._remaining = inf
        self._due = next(iter(remaining), "")
        if (remaining or now.success) and len(remaining) < self._remaining:
            self._remaining, self._touched = len(remaining), []
            self._changes_at_best = self._changes
        if now.steps_done:
            self._reached.setdefault(now.steps_done, now.frame)
        for name, force in forces.items():
            if name == "self" or force < TOUCH:
                continue
            self._peak = max(self._peak, (force, name))
            self._touched_last = name
            if name not in self._touched:
                self._touched.append(name)

    def facts(self, record: EpisodeRecord) -> dict[str, Any]:
        """Return the episode's entry for results.jsonl without timing; it is deterministic."""
        facts = record.to_dict()
        failed = not record.success
        cause, due = self._cause(record) if failed else ("", "")
        return facts | {
            "failed_step": record.steps_done + 1 if failed else 0,
            "failed_event": record.plan[record.steps_done] if failed else "",
            "cause": cause,
            "due": due,
            "touched": self._touched if failed else [],
            "touched_last": self._touched_last,
            "peak_force": round(self._peak[0], 1),
            "peak_force_on": self._peak[1],
            "reached": [self._reached.get(k + 1) for k in range(record.steps_done)],
            "retries": record.log.retries,
            "targets": record.log.targets or record.frame,
            "inferences": len(record.log.inference_seconds),
        }

    def _cause(self, record: EpisodeRecord) -> tuple[str, str]:
        """Return the cause of a failure, one of CAUSES, and the event that was due."""
        due = self._due
        if due is None:
            return "out_of_reach", record.plan[0]
        if not due:
            return "dead_end", due
        if self._changes > self._changes_at_best:
            return "wrong_move", due
        # The door is pulled by the handle.
        holds = ("door", "handle") if due == "door+" else (due[:-1],)
        touched = any(part in self._touched for part in holds)
        return "not_moved" if touched else "not_touched", due
