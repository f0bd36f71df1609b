"""Proofs about a lock: whether it can be opened, its dead ends, and the memory that it requires.

All results are exact, by search of the lock's minimal automaton. docs/rules.md defines
them. Example::

    prove(load_rule("rule_020")).memory  # 2: its plan visits each pair of phases twice
"""

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import log2
from typing import Any

from rulesafe_locks.automata import MOVED, Automaton, automaton_of, possible, smallest
from rulesafe_locks.locks import LockState, Phases, Rule
from rulesafe_locks.plans import shortest_plan, steps_nearer


@dataclass(frozen=True)
class Proof:
    """Properties of a lock from its start, where all parts are closed."""

    plan: tuple[str, ...]
    """The reference plan (`plans.shortest_plan`); empty if the lock cannot be opened."""
    states: int
    """Number of states of the minimal automaton, up to the opening of the door."""
    dead_ends: int
    """Number of states from which the door cannot be opened any more."""
    dead_end: tuple[str, ...] | None
    """A shortest sequence of events to a dead end; None if there is no dead end."""
    alike: int
    """Maximum number of states with the same phases of knob and handle."""
    alike_on_plan: int
    """Maximum number of states on the reference plan with the same phases."""
    policy: Mapping[Phases, str] | None
    """A memoryless policy that opens the door: the part to move for each observation of the phases.
    None if no such policy exists."""
    memory: int
    """Fewest memory states with which a policy that observes the phases can execute a shortest
    plan."""
    memory_blind: int
    """Fewest memory states with which a policy without observations can execute a shortest plan."""

    @property
    def openable(self) -> bool:
        """Whether any sequence of events opens the door."""
        return bool(self.plan)

    @property
    def steps(self) -> int:
        """Number of events in a shortest plan, including the door's."""
        return len(self.plan)

    @property
    def memoryless(self) -> bool:
        """Whether a policy that observes the phases and has no memory can open the door."""
        return self.policy is not None

    @property
    def bits(self) -> float:
        """log2 of `memory`: bits that a shortest plan requires besides the phases."""
        return log2(max(self.memory, 1))

    @property
    def bits_blind(self) -> float:
        """log2 of `memory_blind`: bits that a shortest plan requires without observations."""
        return log2(max(self.memory_blind, 1))

    @property
    def facts(self) -> dict[str, Any]:
        """The properties that lists show and filter by, as JSON values."""
        return {
            "plan": list(self.plan),
            "steps": self.steps,
            "states": self.states,
            "dead_ends": self.dead_ends,
            "alike": self.alike,
            "memoryless": self.memoryless,
            "memory": self.memory,
            "bits": round(self.bits, 2),
            "bits_blind": round(self.bits_blind, 2),
        }


@lru_cache(maxsize=1024)
def prove(rule: Rule) -> Proof:
    """Prove the properties of a lock; RuleSafeError for more than 100 000 states."""
    lock = smallest(possible(automaton_of(rule)))
    dead = dead_ends(lock)
    plan = tuple(shortest_plan(rule)) if 0 not in dead else ()
    by_phases = Counter(state.phases for state in lock.states)
    on_plan = Counter(_phases_along(plan))
    return Proof(
        plan=plan,
        states=len(lock.states),
        dead_ends=len(dead),
        dead_end=_shortest_path(lock, dead) if dead else None,
        alike=max(by_phases.values()),
        alike_on_plan=max(on_plan.values(), default=0),
        policy=_memoryless_policy(lock),
        memory=_memory_of_shortest(rule) if plan else 0,
        memory_blind=len(plan),
    )


def dead_ends(lock: Automaton) -> set[int]:
    """Return the indices of the states from which no state with an unlocked door is reachable."""
    before: dict[int, list[int]] = {number: [] for number in range(len(lock.states))}
    for number, state in enumerate(lock.states):
        for after in state.next:
            if after is not None:
                before[after].append(number)
    alive = [number for number, state in enumerate(lock.states) if state.door_unlocked]
    known = set(alive)
    for number in alive:
        new = [earlier for earlier in before[number] if earlier not in known]
        known.update(new)
        alive.extend(dict.fromkeys(new))
    return set(before) - known


def _shortest_path(lock: Automaton, goal: set[int]) -> tuple[str, ...]:
    """Return a shortest sequence of events from the start to one of the states in `goal`."""
    # Only parents are stored, since complete paths to all states would take too much memory.
    parents: dict[int, tuple[int, str]] = {}
    queue = deque([0])
    while queue:
        number = queue.popleft()
        if number in goal:
            path = []
            while number:
                number, event = parents[number]
                path.append(event)
            return tuple(reversed(path))
        state = lock.states[number]
        for part, after in zip(MOVED, state.next, strict=True):
            if after and after not in parents:  # 0 is the start
                parents[after] = number, part + ("-" if getattr(state.phases, part) else "+")
                queue.append(after)
    raise AssertionError("every state of a minimal automaton is reachable")


def _memoryless_policy(lock: Automaton) -> dict[Phases, str] | None:
    """Try all 81 policies: for each pair of phases, move the knob, the handle or the door."""
    views = [Phases(knob, handle) for knob, handle in product((False, True), repeat=2)]
    for moves in product(("door", *MOVED), repeat=len(views)):
        policy = dict(zip(views, moves, strict=True))
        if _opens(lock, policy):
            return policy
    return None


def _opens(lock: Automaton, policy: Mapping[Phases, str]) -> bool:
    """Return whether a memoryless policy opens the door.

    It fails if it reaches a state again, which is a cycle, or if it moves a locked part."""
    number: int | None = 0
    seen = set()
    while number is not None and number not in seen:
        seen.add(number)
        state = lock.states[number]
        move = policy[state.phases]
        if move == "door":
            return state.door_unlocked
        number = state.next[MOVED.index(move)]
    return False


def _memory_of_shortest(rule: Rule) -> int:
    """Return the fewest memory states over all shortest plans.

    The next step of a policy with finite memory is a function of (memory, phases). If such a pair
    occurred twice on a plan that opens the door only at its end, the policy would repeat the events
    in between forever. So all pairs differ, and a plan that visits the same phases m times needs m
    memory states. m are enough: count the visits of the current phases.
    """
    views = 4
    reached: set[tuple[LockState, tuple[int, ...]]] = {(rule.start(), (0,) * views)}
    fewest = 0
    while reached:
        counted = [(state, _count(state, counts)) for state, counts in reached]
        fewest = min(max(counts) for _, counts in counted)
        reached = {
            (after, counts)
            for state, counts in counted
            for _, after in steps_nearer(rule, state)
            if not after.opened
        }
    return fewest


def _count(state: LockState, counts: tuple[int, ...]) -> tuple[int, ...]:
    view = 2 * state.phases.knob + state.phases.handle
    return (*counts[:view], counts[view] + 1, *counts[view + 1 :])


def _phases_along(plan: tuple[str, ...]) -> Iterator[Phases]:
    """Yield the phases before each event of a plan."""
    phases = Phases()
    for event in plan:
        yield phases
        phases = phases._replace(**{event[:-1]: event.endswith("+")})
