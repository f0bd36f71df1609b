"""What was proved of a lock, in words."""

from rulesafe_design.commands.rule_tables import short
from rulesafe_locks.lock_files import Bound, LockFile
from rulesafe_locks.locks import Phases
from rulesafe_locks.proofs import Proof


def bound_in_words(bound: Bound | None) -> str:
    """How far an automaton agrees with its program."""
    if bound is None:
        return "exact"
    return (
        f"exact for up to {bound.events} events; beyond, the figures go on as until then, rightly "
        f"unless the program needs more than {bound.states} states"
    )


def origin_in_words(lock: LockFile) -> str:
    """Who wrote a lock, and how well its automaton follows its program."""
    origin = ", ".join(f"{key} {value}" for key, value in lock.origin.items()) or "unknown"
    return f"{origin}; its automaton is {bound_in_words(lock.bound)}"


def figures_in_words(proof: Proof) -> dict[str, str]:
    """What was proved of a lock, by topic."""
    dead = "none: no move spoils anything for good"
    if proof.dead_end is not None:
        dead = f"{_count(proof.dead_ends)} from which nothing opens the door"
        dead += f"; the shortest way into one: {short(proof.dead_end) or 'the start is one'}"
    told = {"states": f"{proof.states} before the door opens", "dead ends": dead}
    if proof.alike == 1:
        told["alike"] = "no two states show the same phases of knob and handle"
    else:
        told["alike"] = (
            f"up to {_count(proof.alike)} with the same phases of knob and handle; the plan passes "
            f"up to {proof.alike_on_plan} of them"
        )
    if proof.openable:
        told["memory"] = (
            f"none: {_in_words(proof)}"
            if proof.policy
            else "needed: no policy that only looks at the phases opens it"
        )
        told["bits"] = (
            f"{proof.bits:.3g} for a shortest plan where the phases are seen, "
            f"{proof.bits_blind:.3g} where nothing is (memory states: {proof.memory}, "
            f"{proof.memory_blind})"
        )
    return told


def _count(states: int) -> str:
    return f"{states} state{'s' * (states != 1)}"


def _in_words(proof: Proof) -> str:
    """The memoryless policy, as far as it comes to be used."""
    phases, said = Phases(), []
    while True:
        part = (proof.policy or {})[phases]
        opens = [name for name in ("knob", "handle") if getattr(phases, name)]
        seen = f"{' and '.join(opens)} open" if opens else "all closed"
        said.append(f"{seen}: {'pull' if part == 'door' else 'move'} the {part}")
        if part == "door":
            return "; ".join(said)
        phases = phases._replace(**{part: not getattr(phases, part)})
