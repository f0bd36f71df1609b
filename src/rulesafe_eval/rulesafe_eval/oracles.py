"""The oracles: agents that know more than a policy may, and leave the moves to the expert.

They differ in how they choose the next part to move:

    expert             by the lock's true state, all moves that remain
    phase-oracle       by the lock's true state, one move at a time
    memoryless-oracle  by the phases of knob and handle alone, from a fixed table

The memoryless oracle follows the table of the lock's proof. Where the proof says that no table
opens the lock, it follows the one that comes nearest to the open door, until it repeats a state or
a part is locked.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product

from planner_node.episode import ExpertAgent, remaining
from rulesafe_locks.automata import MOVED
from rulesafe_locks.locks import LockState, Phases, Rule
from rulesafe_locks.plans import possible_events
from rulesafe_locks.proofs import prove
from rulesafe_locks.scores import Progress
from rulesafe_sim.episode import Stuck
from rulesafe_sim.simulation import Simulation

Table = Mapping[Phases, str]
"""The part to move, by the phases of knob and handle (the door closed)."""


def next_step(simulation: Simulation) -> Sequence[str]:
    """Choose the next event by phases and the lock's true memory."""
    return remaining(simulation)[:1]


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


ORACLES = {
    "expert": ExpertAgent(),
    "phase-oracle": ExpertAgent(lambda: next_step),
    "memoryless-oracle": ExpertAgent(ByPhases),
}
"""What `--policy` may name besides a checkpoint."""
