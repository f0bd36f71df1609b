"""Shortest plans and distances in a lock's state graph, by breadth-first search over events.

Example::

    shortest_plan(load_rule("rule_001"))  # ["knob+", "handle+", "door+"]
"""

from collections import deque
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeVar

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_locks.locks import EVENTS, PARTS, LockState, Rule

T = TypeVar("T")

MAX_STATES = 100_000
"""Limit of the search. The largest graph of the twenty rules has about 1200 states (rule_018)."""


def possible_events(rule: Rule, state: LockState) -> list[str]:
    """Return the possible events in this state: moves of unlocked parts; the door only opens."""
    locked = rule.locked(state)
    return [
        part + ("-" if is_open else "+")
        for part, is_open in zip(PARTS, state.phases, strict=True)
        if part not in locked and not (part == "door" and is_open)
    ]


def shortest_plan(rule: Rule, state: LockState | None = None) -> list[str]:
    """Return the shortest plan that opens the door, from the start or from `state`.

    Its last event is "door+"; it is empty if the door is open. Among shortest plans, the one with
    the fewest changes of part is returned, because each costs the robot a reach and a grasp; among
    those, the one that moves the knob first.

    Raises:
        RuleSafeError: no sequence of events opens the door.
    """
    return list(_shortest_plan(rule, rule.start() if state is None else state))


@lru_cache(maxsize=4096)
def _shortest_plan(rule: Rule, state: LockState) -> tuple[str, ...]:
    distance = plan_distance(rule, state)
    if distance is None:
        raise RuleSafeError(f"{rule.id}: no sequence of events opens the door")
    layers = [{state}]
    for _ in range(distance):
        layers.append({after for each in layers[-1] for _, after in steps_nearer(rule, each)})
    # Dynamic programming from the open door backwards: the cheapest continuation from each state,
    # with the hand at each part, as (changes of part, indices of the events in EVENTS).
    cheapest: dict[tuple[LockState, str], tuple[int, tuple[int, ...]]] = {}
    for each in (each for layer in reversed(layers) for each in layer):
        steps = steps_nearer(rule, each)
        for part in ("", *PARTS):
            options = []
            for event, after in steps:
                changes, rest = cheapest[after, event[:-1]]
                options.append((changes + (event[:-1] != part), (EVENTS.index(event), *rest)))
            cheapest[each, part] = min(options, default=(0, ()))
    return tuple(EVENTS[number] for number in cheapest[state, ""][1])


def steps_nearer(rule: Rule, state: LockState) -> list[tuple[str, LockState]]:
    """Return the first events of all shortest plans from this state, with the states after them."""
    distance = plan_distance(rule, state)
    if not distance:
        return []
    after = [(event, rule.step(state, event)) for event in possible_events(rule, state)]
    return [(event, new) for event, new in after if plan_distance(rule, new) == distance - 1]


def plan_distance(rule: Rule, state: LockState) -> int | None:
    """Return the length of a shortest plan from this state: 0 if open, None if there is no plan."""
    known = _distances(rule)
    if state not in known:
        _add_distances(rule, state, known)
    return known[state]


@lru_cache(maxsize=1024)
def _distances(rule: Rule) -> dict[LockState, int | None]:
    """Return the mutable cache of `plan_distance`."""
    return {}


def _add_distances(rule: Rule, start: LockState, known: dict[LockState, int | None]) -> None:
    """Store in `known` the distance of each state that is reachable from `start`: the number of
    events to an open door, None if it cannot be opened. A forward search finds the states, a
    backward search from the states with an open door their distances."""
    before = _predecessors(rule, start)
    found = backward_distances(before, (state for state in before if state.opened))
    known.update({state: found.get(state) for state in before})


def backward_distances(before: Mapping[T, Iterable[T]], goals: Iterable[T]) -> dict[T, int]:
    """Return the fewest moves to a goal from each state that can reach one, by breadth-first
    search.

    Args:
        before: each state with its predecessors.
        goals: states at distance 0.
    """
    queue = deque(goals)
    found = dict.fromkeys(queue, 0)
    while queue:
        state = queue.popleft()
        for earlier in before[state]:
            if earlier not in found:
                found[earlier] = found[state] + 1
                queue.append(earlier)
    return found


def reachable_states(rule: Rule) -> set[LockState]:
    """Return all states that the lock can reach, up to the opening of the door."""
    return set(_predecessors(rule, rule.start()))


def _predecessors(rule: Rule, start: LockState) -> dict[LockState, list[LockState]]:
    """Return the states that are reachable from `start`, each with its predecessors."""
    before: dict[LockState, list[LockState]] = {start: []}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        for event in () if state.opened else possible_events(rule, state):
            after = rule.step(state, event)
            if after not in before:
                before[after] = []
                queue.append(after)
            before[after].append(state)
        if len(before) > MAX_STATES:
            raise RuleSafeError(
                f"{rule.id}: more than {MAX_STATES} states; limit the values of the rule's memory"
            )
    return before


def apply_plan(rule: Rule, plan: Iterable[str]) -> LockState:
    """Return the state after the plan's events, from the start.

    Raises:
        RuleSafeError: an event is unknown or not possible.
    """
    state = rule.start()
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
    """Return whether all events are possible in this order, and open the door."""
    state = rule.start() if state is None else state
    for event in plan:
        if event not in possible_events(rule, state):
            return False
        state = rule.step(state, event)
    return state.opened
