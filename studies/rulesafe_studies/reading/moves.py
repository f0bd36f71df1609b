"""Success at the move level: the lock answers each move at once, without a robot.

An agent receives the moves so far and returns the next event. A locked part does not move, which
takes a move, too. A lock is opened if its door opens within twice the moves of a shortest plan.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product

from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.locks import Rule
from rulesafe_locks.plans import shortest_plan
from rulesafe_reader.reader import Observed, Reader

Agent = Callable[[Sequence[Observed]], str]
"""Returns the next event after the moves so far; "" gives up."""

CYCLE = 6
"""Longest fixed cycle of moves."""


def opens(lock: Rule, agent: Agent) -> bool:
    """Return whether an agent opens a lock within twice the moves of its shortest plan."""
    state, history = lock.start(), list[Observed]()
    for _ in range(2 * len(shortest_plan(lock))):
        event = agent(history)
        if not event:
            return False
        happened = event[:-1] not in lock.locked(state)
        if happened:
            state = lock.step(state, event)
            if state.opened:
                return True
        history.append(Observed(event, happened))
    return False


def reading(reader: Reader, instruction: str) -> Agent:
    """Return the agent that follows an instruction."""
    return lambda history: reader.next_event(instruction, history)


def cycling(parts: Sequence[str]) -> Agent:
    """Return the agent that moves these parts again and again, whatever happens."""

    def act(history: Sequence[Observed]) -> str:
        part = parts[len(history) % len(parts)]
        moved = sum(each.happened and each.event[:-1] == part for each in history)
        return part + "+-"[moved % 2]

    return act


def planned(plan: Sequence[str]) -> Agent:
    """Return the agent that executes a plan and then gives up."""
    return lambda history: plan[len(history)] if len(history) < len(plan) else ""


def best_cycle(locks: Sequence[Rule]) -> tuple[str, ...]:
    """Return the cycle of up to CYCLE moves that opens most of these locks; among equally good
    ones, the first of the shortest."""
    cycles = [c for n in range(1, CYCLE + 1) for c in product(("knob", "handle", "door"), repeat=n)]
    cycles = [cycle for cycle in cycles if "door" in cycle]
    return max(cycles, key=lambda cycle: sum(opens(lock, cycling(cycle)) for lock in locks))


def most_frequent_plan(locks: Sequence[Rule]) -> tuple[str, ...]:
    """Return the most frequent shortest plan of these locks."""
    return Counter(tuple(shortest_plan(lock)) for lock in locks).most_common(1)[0][0]


def shuffled(locks: Mapping[str, Rule], seed: int) -> dict[str, str]:
    """Return the instruction of another lock for each lock."""
    names = list(locks)
    order = random.Random(seed).sample(names, len(names))
    following = dict(zip(order, [*order[1:], order[0]], strict=True))
    return {name: locks[following[name]].description for name in names}


@cache
def blind(rules: str = "sampled_train") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the best cycle and the most frequent plan of some locks."""
    locks = list(expand_rules(rules).values())
    return best_cycle(locks), most_frequent_plan(locks)
