"""Scores of an episode's progress: completed steps of the reference plan, remaining distance.

docs/rules.md defines both scores. Example::

    progress = Progress(load_rule("rule_001"))
    progress.update({"knob": True, "handle": False, "door": False})
    progress.steps_done, progress.process_score  # 1, 0.333...
"""

from collections.abc import Iterable

from rulesafe_locks.locks import Lock, Rule
from rulesafe_locks.plans import opens_door, plan_distance, shortest_plan


class Progress(Lock):
    """A lock that scores an episode. Each score is the maximum so far.

    0 <= process_score <= order_free_score <= 1, and each is 1 if and only if `success`.
    """

    def __init__(self, rule: Rule) -> None:
        self.plan = shortest_plan(rule)
        super().__init__(rule)

    def reset(self) -> None:
        """Return to the initial state: all parts closed, no step completed."""
        super().reset()
        self.steps_done = 0
        """Number of events in the longest prefix of the plan that was completed in order."""
        self._in_order = 0
        self._nearest = len(self.plan)

    def take(self, event: str) -> None:
        super().take(event)
        distance = plan_distance(self.rule, self.state)
        if distance is not None:
            self._nearest = min(self._nearest, distance)
        if self.success:
            self.steps_done = len(self.plan)
            return
        # Opening the door, the last event, counts only if it was unlocked, not if it was forced.
        if self._in_order < len(self.plan) - 1 and event == self.plan[self._in_order]:
            self._in_order += 1
        for steps in range(self._in_order, self.steps_done, -1):
            if opens_door(self.rule, self.plan[steps:], self.state):
                self.steps_done = steps
                break

    @property
    def success(self) -> bool:
        """Whether the door was opened while unlocked."""
        return self.state.opened

    @property
    def remaining(self) -> list[str]:
        """A shortest plan from the current state; empty if the door is open or cannot be opened
        any more."""
        if plan_distance(self.rule, self.state) is None:
            return []
        return shortest_plan(self.rule, self.state)

    @property
    def process_score(self) -> float:
        """Completed steps divided by the length of the plan, 0 to 1."""
        return self.steps_done / len(self.plan)

    @property
    def order_free_score(self) -> float:
        """1 - d / d0, with the least remaining distance d so far and that at the start, d0."""
        return 1 - self._nearest / len(self.plan)


def progress_after(rule: Rule, events: Iterable[str]) -> Progress:
    """Return the progress after these events, from the start."""
    progress = Progress(rule)
    for event in events:
        progress.take(event)
    return progress
