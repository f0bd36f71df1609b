"""Describe the proved properties of a lock as text."""

from rulesafe_design.commands.rule_tables import compact_plan
from rulesafe_locks.lock_files import Bound, LockFile
from rulesafe_locks.locks import Phases
from rulesafe_locks.proofs import Proof


def bound_text(bound: Bound | None) -> str:
    """Return a description of how far an automaton agrees with its program."""
    if bound is None:
        return "exact"
    return (
        f"exact for up to {bound.events} events; extrapolated beyond, which is correct if the "
        f"program needs at most {bound.states} states"
    )


def origin_text(lock: LockFile) -> str:
    """Return the origin of a lock and how far its automaton agrees with its program."""
    origin = ", ".join(f"{key} {value}" for key, value in lock.origin.items()) or "unknown"
    return f"{origin}; the automaton is {bound_text(lock.bound)}"


def proof_topics(proof: Proof) -> dict[str, str]:
    """Return descriptions of the proved properties of a lock, by topic."""
    dead = "none: the door can be opened from every state"
    if proof.dead_end is not None:
        dead = f"{_count(proof.dead_ends)} from which nothing opens the door"
        dead += f"; the shortest path to one: {compact_plan(proof.dead_end) or 'the start is one'}"
    topics = {"states": f"{proof.states} before the door opens", "dead ends": dead}
    if proof.alike == 1:
        topics["alike"] = "no two states have the same phases of knob and handle"
    else:
        topics["alike"] = (
            f"up to {_count(proof.alike)} with the same phases of knob and handle; the plan passes "
            f"up to {proof.alike_on_plan} of them"
        )
    if proof.openable:
        topics["memory"] = (
            f"none: {_policy_text(proof)}"
            if proof.policy
            else "needed: no memoryless policy that observes the phases opens the door"
        )
        topics["bits"] = (
            f"{proof.bits:.3g} for a shortest plan if the phases are observed, "
            f"{proof.bits_blind:.3g} if not (memory states: {proof.memory}, "
            f"{proof.memory_blind})"
        )
    return topics


def _count(states: int) -> str:
    return f"{states} state{'s' * (states != 1)}"


def _policy_text(proof: Proof) -> str:
    """Return a description of the memoryless policy for the phases that it reaches."""
    phases, rules = Phases(), []
    while True:
        part = (proof.policy or {})[phases]
        opens = [name for name in ("knob", "handle") if getattr(phases, name)]
        observed = f"{' and '.join(opens)} open" if opens else "all closed"
        rules.append(f"{observed}: {'pull' if part == 'door' else 'move'} the {part}")
        if part == "door":
            return "; ".join(rules)
        phases = phases._replace(**{part: not getattr(phases, part)})
