"""How far an episode came: steps of the reference plan, and the distance left in the lock.

docs/rules.md defines both scores. Example::

    progress = Progress(load_rule("rule_001"))
    progress.update({"knob": True, "handle": False, "door": False})
    progress.steps_done, progress.process_score  # 1, 0.333...
"""

from collections.abc import Iterable

from rulesafe_locks.locks import Lock, Rule
from rulesafe_locks.plans import opens_door, plan_distance, shortest_plan


class Progress(Lock):
    """A running lock that scores an episode; every score is the best so far and never falls.

    Always 0 <= process_score <= order_free_score <= 1, and each is 1 exactly on success.
    """

    def __init__(self, rule: Rule) -> None:
        self.plan = shortest_plan(rule)
        super().__init__(rule)

    def reset(self) -> None:
        """Back to the start: all parts closed, no step done."""
        super().reset()
        self.steps_done = 0
        """The longest prefix of the plan that was completed in order, in events."""
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
        # The door, last in the plan, is done only by success: a forced one does not count.
        if self._in_order < len(self.plan) - 1 and event == self.plan[self._in_order]:
            self._in_order += 1
        for steps in range(self._in_order, self.steps_done, -1):
            if opens_door(self.rule, self.plan[steps:], self.state):
                self.steps_done = steps
                break

    @property
    def success(self) -> bool:
        """Was the door opened while the lock left it free?"""
        return self.state.opened

    @property
    def remaining(self) -> list[str]:
        """The fewest events that open the door from here; none where it is open, or where nothing
        opens it any more."""
        if plan_distance(self.rule, self.state) is None:
            return []
        return shortest_plan(self.rule, self.state)

    @property
    def process_score(self) -> float:
        """Steps done over the plan's length, 0 to 1."""
        return self.steps_done / len(self.plan)

    @property
    def order_free_score(self) -> float:
        """1 - d / d0, d the fewest events left at the best moment, d0 that at the start."""
        return 1 - self._nearest / len(self.plan)


def follow(rule: Rule, events: Iterable[str]) -> Progress:
    """The progress after these events, from the start."""
    progress = Progress(rule)
    for event in events:
        progress.take(event)
    return progress


def process_score(rule: Rule, events: Iterable[str]) -> float:
    """The process score of a sequence of events from the start, 0 to 1."""
    return follow(rule, events).process_score


def order_free_score(rule: Rule, events: Iterable[str]) -> float:
    """The order-free score of a sequence of events from the start, 0 to 1."""
    return follow(rule, events).order_free_score
