"""A part is turned back during an episode, to measure whether a policy recovers."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rulesafe_data.run_folder import Line
from rulesafe_eval.diagnosis import TOUCH
from rulesafe_eval.statistics import FEWEST, bootstrap, percent
from rulesafe_locks.locks import Rule
from rulesafe_locks.plans import plan_distance
from rulesafe_locks.scores import progress_after
from rulesafe_sim.episode import Activity
from rulesafe_sim.simulation import Simulation

TORQUE = 0.12
"""Torque on the part, N m: twice the largest detent; with the parts' damping, about 1 rad/s."""

RELEASE_FRAMES = 5
"""Number of successive frames without contact after which a part counts as released."""

MAX_FRAMES = 30
"""Maximum duration of the torque, frames."""


class Undone(NamedTuple):
    """A step of a rule's shortest plan that can be undone.

    Attributes:
        steps: number of completed steps, including this one.
        event: the event that undoes it, such as "knob-".
        extra: number of steps by which the shortest plan becomes longer.
    """

    steps: int
    event: str
    extra: int


def undoable(rule: Rule) -> list[Undone]:
    """Return the steps of the rule's shortest plan that can be undone: the part is not locked after
    the step, and without it the plan is longer, but the door can still be opened."""
    found = []
    plan = progress_after(rule, ()).plan
    for steps, event in enumerate(plan[:-1], 1):
        progress = progress_after(rule, plan[:steps])
        part, undone = event[:-1], event[:-1] + ("-" if event.endswith("+") else "+")
        if progress.locked[part]:
            continue
        progress.take(undone)
        distance = plan_distance(rule, progress.state)
        if distance is not None and (extra := distance - len(plan) + steps) > 0:
            found.append(Undone(steps, undone, extra))
    return found


class TurnBack:
    """Subscriber of one episode that undoes a step once: when the policy has completed it and
    released the part, a torque turns the part back until its phase changes.

    Args:
        rule: the rule.
        seed: seed of the episode, which selects one of the rule's undoable steps.

    Attributes:
        undone: the step; None: the rule has no step that can be undone.
        extra: number of steps by which the shortest plan becomes longer.
        frame: frame at which the phase changed; None: it has not.
    """

    def __init__(self, rule: Rule, seed: int) -> None:
        steps = undoable(rule)
        index = int(np.random.default_rng(seed).integers(len(steps))) if steps else 0
        self.undone = steps[index] if steps else None
        self.extra = self.undone.extra if self.undone else 0
        self.frame: int | None = None
        self._free = 0
        self._began: int | None = None
        self._over = self.undone is None

    def __call__(self, simulation: Simulation, action: NDArray | None, activity: Activity) -> None:
        if self._over or self.undone is None:
            return
        state, (steps, event, _) = simulation.state(), self.undone
        part, opens = event[:-1], event.endswith("+")
        if simulation.progress.steps_done < steps:
            return
        self._free = self._free + 1 if state.contact_forces[part] < TOUCH else 0
        if self._began is None:
            if not self._in_plan(simulation) or state.part_open[part] is opens:
                self._over = True  # other moves followed before the policy released the part
            elif self._free >= RELEASE_FRAMES:
                self._began = state.frame
                simulation.external_torques = {part: TORQUE if opens else -TORQUE}
            return
        if state.part_open[part] is opens:
            self.frame = state.frame
        if self.frame is not None or state.frame - self._began >= MAX_FRAMES:
            simulation.external_torques, self._over = {}, True

    def _in_plan(self, simulation: Simulation) -> bool:
        """Return whether the lock is in the state after the step, or in an equivalent one."""
        assert self.undone is not None
        progress, (steps, event, extra) = simulation.progress, self.undone
        left = len(progress.plan) - steps
        after = plan_distance(progress.rule, progress.rule.step(progress.state, event))
        return (
            progress.steps_done == steps
            and plan_distance(progress.rule, progress.state) == left
            and after == left + extra
            and not progress.locked[event[:-1]]
        )

    def facts(self) -> dict[str, Any]:
        """Return the entry of results.jsonl: the event, and the frame at which it happened."""
        event = self.undone.event if self.undone else ""
        return {"turned_back": {"event": event, "frame": self.frame}}


def recovery(lines: Sequence[Line]) -> dict[str, Any] | None:
    """Return the number of episodes in which a part was turned back, the number of successes among
    them, and the 95 % interval of their success rate, a bootstrap over places (safe and seed). None
    without such episodes; the interval is None with fewer than FEWEST places.
    """
    disturbed = [line for line in lines if (line.get("turned_back") or {}).get("frame")]
    if not disturbed:
        return None
    opened = [line["opened"] for line in disturbed]
    places = [(line["safe"], line["seed"]) for line in disturbed]
    enough = len(set(places)) >= FEWEST
    return {
        "episodes": len(opened),
        "opened": sum(opened),
        "interval": list(bootstrap(opened, places)) if enough else None,
    }


def recovery_text(found: Mapping[str, Any]) -> str:
    """Return a recovery as text."""
    rate = percent(found["opened"] / found["episodes"], found["interval"])
    return (
        f"{found['opened']} of {found['episodes']} episodes in which a part was turned back, {rate}"
    )
