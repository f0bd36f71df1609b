"""The verdict on a program before anybody trains on it: compiled, proved, compared with the others.

Example::

    verified = verify(Path("my_lock.py").read_text(), known=known_digests())
    verified.proof.steps
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.compiler import compile_program
from rulesafe_design.sandbox import Limits, Refused
from rulesafe_locks.automata import Automaton, as_rule, automaton_of, possible, smallest
from rulesafe_locks.lock_files import Bound
from rulesafe_locks.locks import Rule
from rulesafe_locks.plans import apply_plan, plan_distance
from rulesafe_locks.proofs import Proof, prove
from rulesafe_locks.rules import RULES, load_rule

MAX_STEPS = 12
"""Longer plans are refused: at about 65 frames a step a memory of 830 frames covers no more."""


@dataclass(frozen=True)
class Verified:
    """A lock that can be opened, and what was proved of it."""

    automaton: Automaton
    bound: Bound | None
    """How far it agrees with the program; None: for good."""
    proof: Proof
    digest: str
    """Of its behaviour; equivalent locks share it."""


def verify(
    source: str,
    plan: Iterable[str] | None = None,
    known: Mapping[str, str] | None = None,
    limits: Limits = Limits(),
    max_steps: int = MAX_STEPS,
) -> Verified:
    """Compiles a program in the sandbox and proves that its lock can be opened.

    `plan`: events that are claimed to open the door. `known`: digests of other locks, with the id
    of each, to none of which it may be equivalent.

    Errors: Refused, by `kind`: those of the sandbox; "trivial" where the door is free at the start;
    "shut" where nothing opens it; "long" for more than `max_steps` steps; "plan" where the claimed
    plan fails; "duplicate".
    """
    compiled = compile_program(source, limits)
    rule = as_rule(compiled.automaton, "the lock", "")
    check_use(rule, max_steps)
    if plan is not None:
        check_plan(rule, list(plan))
    digest = behaviour(compiled.automaton)
    if known and digest in known:
        raise Refused("duplicate", f"the lock behaves exactly as {known[digest]} does")
    return Verified(compiled.automaton, compiled.bound, prove(rule), digest)


def check_use(rule: Rule, max_steps: int = MAX_STEPS) -> None:
    """Is it a lock that a robot can be set to open? Refused "trivial", "shut" or "long"."""
    if "door" not in rule.locked(rule.start()):
        raise Refused("trivial", "the door is free at the start, with all parts closed")
    steps = plan_distance(rule, rule.start())
    if steps is None:
        raise Refused(
            "shut",
            f"no sequence of knob and handle moves ever frees the door (all {prove(rule).states} "
            "states that can be reached were searched)",
        )
    if steps > max_steps:
        raise Refused("long", f"the shortest plan has {steps} steps; valid: at most {max_steps}")


def check_plan(rule: Rule, plan: list[str]) -> None:
    """Do these events open the door? Refused "plan", with the step that fails, if not."""
    try:
        after = apply_plan(rule, plan)
    except RuleSafeError as error:
        raise Refused("plan", f"the claimed plan fails: {error}") from None
    if not after.opened:
        raise Refused(
            "plan",
            "the claimed plan leaves the door shut; its last event must be 'door+'. "
            f"A plan that works: {', '.join(prove(rule).plan)}",
        )


def behaviour(automaton: Automaton) -> str:
    """A digest of what a lock does under the moves that it allows: equal for equivalent locks."""
    return smallest(possible(automaton)).digest


def known_digests(rules: Iterable[str] = RULES) -> dict[str, str]:
    """The digests of rules, by default of the twenty, with their ids."""
    return {behaviour(automaton_of(load_rule(rule))): rule for rule in rules}
