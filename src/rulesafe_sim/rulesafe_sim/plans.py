"""Shortest plans and distances in a lock's state graph, by breadth-first search over events.

Example::

    shortest_plan(load_rule("rule_001"))  # ["knob+", "handle+", "door+"]
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from rulesafe_sim.errors import RuleSafeError, unknown_name
from rulesafe_sim.locks import EVENTS, PARTS, LockState, Rule

MAX_STATES = 100_000
"""The search gives up here. The largest graph of the twenty, of rule_018, has about 1200."""


def possible_events(rule: Rule, state: LockState) -> list[str]:
    """The events that the lock allows in this state: no held part moves, a door only opens."""
    locked = rule.locked(state)
    return [
        part + ("-" if is_open else "+")
        for part, is_open in zip(PARTS, state.phases, strict=True)
        if part not in locked and not (part == "door" and is_open)
    ]


def shortest_plan(rule: Rule, state: LockState | None = None) -> list[str]:
    """The fewest events that open the door from the start or a given state, the last one "door+";
    none where it is open.

    Among plans of that length, the one that goes from part to part least often (each time costs
    the robot a reach and a grasp); among those, the one that takes the knob first. Raises
    RuleSafeError where nothing opens the door.
    """
    return list(_shortest_plan(rule, rule.start() if state is None else state))


@lru_cache(maxsize=4096)
def _shortest_plan(rule: Rule, state: LockState) -> tuple[str, ...]:
    if plan_distance(rule, state) is None:
        raise RuleSafeError(f"{rule.id}: no sequence of events opens the door")
    return min(_shortest_plans(rule, state), key=_cost)


def _shortest_plans(rule: Rule, state: LockState) -> Iterator[tuple[str, ...]]:
    """All plans of least length, found by going down the distances. `state` has one."""
    distance = plan_distance(rule, state)
    if not distance:
        yield ()
        return
    for event in possible_events(rule, state):
        after = rule.step(state, event)
        if plan_distance(rule, after) == distance - 1:
            for rest in _shortest_plans(rule, after):
                yield (event, *rest)


def _cost(plan: tuple[str, ...]) -> tuple[int, tuple[int, ...]]:
    changes = sum(a[:-1] != b[:-1] for a, b in pairwise(plan))
    return changes, tuple(EVENTS.index(event) for event in plan)


@lru_cache(maxsize=65_536)
def plan_distance(rule: Rule, state: LockState) -> int | None:
    """The fewest events that open the door from this state, 0 if it is open, None if none can."""
    for distance, layer in enumerate(_layers(rule, state)):
        if any(reached.opened for reached in layer):
            return distance
    return None


def reachable_states(rule: Rule) -> set[LockState]:
    """Every state that the lock can get into, up to the opening of the door."""
    return set().union(*_layers(rule, rule.start()))


def _layers(rule: Rule, start: LockState) -> Iterator[set[LockState]]:
    seen, layer = {start}, {start}
    while layer:
        yield layer
        layer = {
            rule.step(state, event)
            for state in layer
            if not state.opened
            for event in possible_events(rule, state)
        } - seen
        seen |= layer
        _check_size(rule, seen)


def _check_size(rule: Rule, seen: set[LockState]) -> None:
    if len(seen) > MAX_STATES:
        raise RuleSafeError(
            f"{rule.id}: more than {MAX_STATES} states; its memory must take few values"
        )


def apply_plan(rule: Rule, plan: Iterable[str], state: LockState | None = None) -> LockState:
    """The state after the plan's events, from the start or from a given state.

    Raises RuleSafeError for an unknown event and for the first one that the lock does not allow.
    """
    state = rule.start() if state is None else state
    for number, event in enumerate(plan, 1):
        if event not in EVENTS:
            raise unknown_name("event", event, EVENTS)
        possible = possible_events(rule, state)
        if event not in possible:
            raise RuleSafeError(
                f"{rule.id}: step {number}, {event!r}, is impossible; "
                f"valid there: {', '.join(possible) or 'none'}"
            )
        state = rule.step(state, event)
    return state


def opens_door(rule: Rule, plan: Iterable[str], state: LockState | None = None) -> bool:
    """Can these events all happen in this order, and is the door open after them?"""
    state = rule.start() if state is None else state
    for event in plan:
        if event not in possible_events(rule, state):
            return False
        state = rule.step(state, event)
    return state.opened
