"""Actors that know more than a policy may: they choose a part to move, and the planner moves it.

All three move parts by the same moves of the expert and differ in what they choose by:

    expert             the lock's true state, by the moves that remain
    phase-oracle       the lock's true state, one move at a time
    memoryless-oracle  the phases of knob and handle alone, by a fixed table

The memoryless oracle follows the table of the lock's proof. Where the proof says that no table
opens the lock, it follows the one that comes nearest to the open door, until it goes round or
stands before a part that is held.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any

from planner_node.episode import observe
from planner_node.expert import Expert, ExpertConfig, Stuck, paced
from rulesafe_eval.live import Live
from rulesafe_locks.automata import MOVED
from rulesafe_locks.locks import LockState, Phases, Rule
from rulesafe_locks.plans import possible_events
from rulesafe_locks.proofs import prove
from rulesafe_locks.scores import Progress
from rulesafe_sim.simulation import Simulation

Table = Mapping[Phases, str]
"""The part to move, by the phases of knob and handle (the door closed)."""

Choose = Callable[[Simulation], tuple[str, ...]]
"""The next events such as "knob+", the first one first; none where the door is open."""


class Oracle:
    """Moves what it is told to, until the door is open, the planner is stuck or time is up.

    Args:
        new_chooser: makes what chooses in one episode.
    """

    renders = False
    memory = None

    def __init__(self, name: str, new_chooser: Callable[[], Choose]):
        self.name = name
        self._new_chooser = new_chooser

    @property
    def facts(self) -> dict[str, Any]:
        return {"kind": self.name, "privileged": True}

    def drive(self, simulation: Simulation, live: Live) -> str:
        """Acts; why it ended before its time, or nothing."""
        choose = self._new_chooser()
        expert = Expert(simulation.safe, config=paced(ExpertConfig(), simulation.variation.speed))

        def seen() -> Any:
            return replace(observe(simulation), remaining=choose(simulation))

        try:
            chunk = expert.begin(seen())
            while chunk is not None:
                if not all(live.step(row) for row in chunk):
                    return ""
                chunk = expert.next_chunk(seen())
            return "it has nothing left to do, and the door is not open"
        except Stuck as error:
            return str(error)
        finally:
            live.retries = expert.log.retries


def all_that_remains(simulation: Simulation) -> tuple[str, ...]:
    """What the expert is told."""
    return tuple(simulation.progress.remaining)


def true_step(simulation: Simulation) -> tuple[str, ...]:
    """The next event by phases and the lock's true memory."""
    return all_that_remains(simulation)[:1]


class ByPhases:
    """The next event by the phases alone, as the rule's best table has it. One episode."""

    def __init__(self) -> None:
        self._states: list[LockState] = []

    def __call__(self, simulation: Simulation) -> tuple[str, ...]:
        """Errors: Stuck where the table came back to a state: it goes round for ever then."""
        # The lock's state tells when to stop, and nothing else: no choice depends on it.
        state = simulation.progress.state
        if not self._states or self._states[-1] != state:
            if state in self._states:
                raise Stuck("the table has come back to a state of the lock, and goes round")
            self._states.append(state)
        phases = state.phases
        if phases.door:
            return ()
        return (event_of(best_table(simulation.rule), phases),)


def event_of(table: Table, phases: Phases) -> str:
    """The event that a table chooses at these phases."""
    part = table[phases._replace(door=False)]
    return part + ("-" if getattr(phases, part) else "+")


@lru_cache(maxsize=1024)
def best_table(rule: Rule) -> Table:
    """The table of the lock's proof; where there is none, the first of the 81 that comes nearest to
    the open door: by the order-free score, then by the process score."""
    found = prove(rule).policy
    if found is not None:
        return found
    views = [Phases(knob, handle) for knob, handle in product((False, True), repeat=2)]
    tables = [
        dict(zip(views, parts, strict=True))
        for parts in product(("door", *MOVED), repeat=len(views))
    ]
    return max(tables, key=lambda table: outcome_of(rule, table))


def outcome_of(rule: Rule, table: Table) -> tuple[float, float]:
    """(order-free score, process score) of a table where every move succeeds that the lock
    allows."""
    progress = Progress(rule)
    states: set[LockState] = set()
    while progress.state not in states and not progress.state.phases.door:
        states.add(progress.state)
        event = event_of(table, progress.state.phases)
        if event not in possible_events(rule, progress.state):
            break
        progress.take(event)
    return progress.order_free_score, progress.process_score


ORACLES: dict[str, Oracle] = {
    "expert": Oracle("expert", lambda: all_that_remains),
    "phase-oracle": Oracle("phase-oracle", lambda: true_step),
    "memoryless-oracle": Oracle("memoryless-oracle", ByPhases),
}
"""What `--policy` may name besides a checkpoint."""
