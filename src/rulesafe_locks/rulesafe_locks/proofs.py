"""What can be proved about a lock: does it open, can it be spoiled, how much must be remembered.

Everything is exact, by search of the lock's smallest automaton. docs/rules.md says what the
figures mean. Example::

    prove(load_rule("rule_020")).memory  # 2: it passes each pair of phases twice
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
    """What holds of a lock from its start, where all parts are closed."""

    plan: tuple[str, ...]
    """The reference plan (`plans.shortest_plan`), or none where the lock cannot be opened."""
    states: int
    """States of the smallest automaton, up to the opening of the door."""
    dead_ends: int
    """States among them from which nothing opens the door any more."""
    dead_end: tuple[str, ...] | None
    """The fewest events into one of those; None where there is none."""
    alike: int
    """The most states that show the same phases of knob and handle."""
    alike_on_plan: int
    """The most states that the reference plan passes and that show the same phases."""
    policy: Mapping[Phases, str] | None
    """A memoryless policy that opens the door: the part to move, by the phases seen. None: there
    is none."""
    memory: int
    """The fewest memory states with which a policy that also sees the phases carries out a
    shortest plan."""
    memory_blind: int
    """The same for a policy that sees nothing."""

    @property
    def openable(self) -> bool:
        """Does any sequence of events open the door?"""
        return bool(self.plan)

    @property
    def steps(self) -> int:
        """Events of a shortest plan, that of the door included."""
        return len(self.plan)

    @property
    def memoryless(self) -> bool:
        """Does a policy without memory, which sees the phases, open the door?"""
        return self.policy is not None

    @property
    def bits(self) -> float:
        """log2 of `memory`: bits that a shortest plan needs beside the phases."""
        return log2(max(self.memory, 1))

    @property
    def bits_blind(self) -> float:
        """log2 of `memory_blind`: bits that it needs where nothing is seen."""
        return log2(max(self.memory_blind, 1))

    @property
    def facts(self) -> dict[str, Any]:
        """What lists show and filter by, as JSON."""
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
    """All of it, for one lock. Some milliseconds; RuleSafeError for more than 100 000 states."""
    lock = smallest(possible(automaton_of(rule)))
    dead = dead_ends(lock)
    plan = tuple(shortest_plan(rule)) if 0 not in dead else ()
    seen = Counter(state.phases for state in lock.states)
    passed = Counter(_phases_along(plan))
    return Proof(
        plan=plan,
        states=len(lock.states),
        dead_ends=len(dead),
        dead_end=_way_into(lock, dead) if dead else None,
        alike=max(seen.values()),
        alike_on_plan=max(passed.values(), default=0),
        policy=_memoryless_policy(lock),
        memory=_memory_of_shortest(rule) if plan else 0,
        memory_blind=len(plan),
    )


def dead_ends(lock: Automaton) -> set[int]:
    """The states, by number, from which no free door can be reached."""
    before: dict[int, list[int]] = {number: [] for number in range(len(lock.states))}
    for number, state in enumerate(lock.states):
        for after in state.next:
            if after is not None:
                before[after].append(number)
    alive = [number for number, state in enumerate(lock.states) if state.free]
    known = set(alive)
    for number in alive:
        new = [earlier for earlier in before[number] if earlier not in known]
        known.update(new)
        alive.extend(dict.fromkeys(new))
    return set(before) - known


def _way_into(lock: Automaton, goal: set[int]) -> tuple[str, ...]:
    """The fewest events into one of these states."""
    # Where each state was reached from: whole ways for all states would take memory without end.
    came: dict[int, tuple[int, str]] = {}
    queue = deque([0])
    while queue:
        number = queue.popleft()
        if number in goal:
            way = []
            while number:
                number, event = came[number]
                way.append(event)
            return tuple(reversed(way))
        state = lock.states[number]
        for part, after in zip(MOVED, state.next, strict=True):
            if after and after not in came:  # 0 is the start
                came[after] = number, part + ("-" if getattr(state.phases, part) else "+")
                queue.append(after)
    raise AssertionError("every state of a smallest automaton can be reached")


def _memoryless_policy(lock: Automaton) -> dict[Phases, str] | None:
    """All 81 policies are tried: for each pair of phases, move the knob, the handle or the door."""
    views = [Phases(knob, handle) for knob, handle in product((False, True), repeat=2)]
    for moves in product(("door", *MOVED), repeat=len(views)):
        policy = dict(zip(views, moves, strict=True))
        if _opens(lock, policy):
            return policy
    return None


def _opens(lock: Automaton, policy: Mapping[Phases, str]) -> bool:
    """A deterministic policy without memory: from a state seen before it goes round for ever, and
    at a part that is held it stands still for ever."""
    number: int | None = 0
    seen = set()
    while number is not None and number not in seen:
        seen.add(number)
        state = lock.states[number]
        move = policy[state.phases]
        if move == "door":
            return state.free
        number = state.next[MOVED.index(move)]
    return False


def _memory_of_shortest(rule: Rule) -> int:
    """The fewest memory states over all shortest plans.

    A policy with finitely many memory states is deterministic in (memory, phases). If such a pair
    came twice along a plan that opens the door only at its end, the policy would go round from one
    to the other for ever: so all pairs differ, and a plan that passes the same phases m times needs
    m memory states. It needs no more: count how often these phases were met.
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
    """The phases before each event of a plan."""
    phases = Phases()
    for event in plan:
        yield phases
        phases = phases._replace(**{event[:-1]: event.endswith("+")})
