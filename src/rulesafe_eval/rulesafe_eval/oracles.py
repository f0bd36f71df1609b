"""Oracles: agents that use privileged state and execute their moves with the expert.

They differ in how they choose the next event:

    expert             from the lock's true state, all remaining events
    phase-oracle       from the lock's true state, one event at a time
    memoryless-oracle  from the phases of knob and handle only, with a fixed table

The memoryless oracle uses the table of the lock's proof. If the proof shows that no table opens the
lock, the oracle uses the table that comes nearest to the open door, until a state repeats or a part
is locked.
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
from rulesafe_sim.episode import AgentError
from rulesafe_sim.simulation import Simulation

Table = Mapping[Phases, str]
"""The part to move, by the phases of knob and handle (the door closed)."""


def next_step(simulation: Simulation) -> Sequence[str]:
    """Choose the next event from the lock's true state."""
    return remaining(simulation)[:1]


class MemorylessOracle:
    """Chooses the next event from the phases only, by the rule's best table. For one episode."""

    def __init__(self) -> None:
        self._states: list[LockState] = []

    def __call__(self, simulation: Simulation) -> tuple[str, ...]:
        """Return the next event. Raises AgentError if a lock state occurs twice, because a
        memoryless policy would then loop forever."""
        # The lock's state is used only to detect the repetition, not to choose the event.
        state = simulation.progress.state
        if not self._states or self._states[-1] != state:
            if state in self._states:
                raise AgentError(
                    "a lock state was reached a second time; the fixed table would loop"
                )
            self._states.append(state)
        phases = state.phases
        if phases.door:
            return ()
        return (event_of(best_table(simulation.rule), phases),)


def event_of(table: Table, phases: Phases) -> str:
    """Return the event that a table chooses at these phases."""
    part = table[phases._replace(door=False)]
    return part + ("-" if getattr(phases, part) else "+")


@lru_cache(maxsize=1024)
def best_table(rule: Rule) -> Table:
    """Return the best memoryless policy of a rule.

    If no memoryless policy opens the door, it is the one of the 81 with the highest order-free
    score; ties are resolved by the process score, then by the order of the policies.
    """
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
    """Return (order-free score, process score) of a table if every move succeeds that the lock
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
    "memoryless-oracle": ExpertAgent(MemorylessOracle),
}
"""Values of `--policy` besides checkpoints."""
