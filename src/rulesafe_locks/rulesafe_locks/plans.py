"""Shortest plans and distances in a lock's state graph, by breadth-first search over events.

Example::

    shortest_plan(load_rule("rule_001"))  # ["knob+", "handle+", "door+"]
"""

from collections import deque
from collections.abc import Iterable
from functools import lru_cache

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_locks.locks import EVENTS, PARTS, LockState, Rule

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
    distance = plan_distance(rule, state)
    if distance is None:
        raise RuleSafeError(f"{rule.id}: no sequence of events opens the door")
    layers = [{state}]
    for _ in range(distance):
        layers.append({after for each in layers[-1] for _, after in steps_nearer(rule, each)})
    # From the open door back: the cheapest way on from each state with the hand on each part, as
    # changes of part and the events' numbers in EVENTS.
    cheapest: dict[tuple[LockState, str], tuple[int, tuple[int, ...]]] = {}
    for each in (each for layer in reversed(layers) for each in layer):
        steps = steps_nearer(rule, each)
        for part in ("", *PARTS):
            ways = []
            for event, after in steps:
                changes, rest = cheapest[after, event[:-1]]
                ways.append((changes + (event[:-1] != part), (EVENTS.index(event), *rest)))
            cheapest[each, part] = min(ways, default=(0, ()))
    return tuple(EVENTS[number] for number in cheapest[state, ""][1])


def steps_nearer(rule: Rule, state: LockState) -> list[tuple[str, LockState]]:
    """The first events of all shortest plans from this state, with the states they lead to."""
    distance = plan_distance(rule, state)
    if not distance:
        return []
    after = [(event, rule.step(state, event)) for event in possible_events(rule, state)]
    return [(event, new) for event, new in after if plan_distance(rule, new) == distance - 1]


def plan_distance(rule: Rule, state: LockState) -> int | None:
    """The fewest events that open the door from this state, 0 if it is open, None if none can."""
    known = _distances(rule)
    if state not in known:
        _add_distances(rule, state, known)
    return known[state]


@lru_cache(maxsize=1024)
def _distances(rule: Rule) -> dict[LockState, int | None]:
    """What plan_distance has found so far."""
    return {}


def _add_distances(rule: Rule, start: LockState, known: dict[LockState, int | None]) -> None:
    """Adds the distances of all that can be reached from `start`: forwards to find the states,
    then backwards from the open doors."""
    before = _predecessors(rule, start)
    queue = deque(state for state in before if state.opened)
    found = dict.fromkeys(queue, 0)
    while queue:
        state = queue.popleft()
        for earlier in before[state]:
            if earlier not in found:
                found[earlier] = found[state] + 1
                queue.append(earlier)
    known.update({state: found.get(state) for state in before})


def reachable_states(rule: Rule) -> set[LockState]:
    """Every state that the lock can get into, up to the opening of the door."""
    return set(_predecessors(rule, rule.start()))


def _predecessors(rule: Rule, start: LockState) -> dict[LockState, list[LockState]]:
    """The states that can be reached from `start`, each with those that lead to it."""
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
                f"{rule.id}: more than {MAX_STATES} states; its memory must take few values"
            )
    return before


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
