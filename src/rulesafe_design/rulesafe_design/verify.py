"""Verify a lock program: compile it, prove its properties, compare it with other locks.

Example::

    verified = verify(Path("my_lock.py").read_text(), known=known_digests())
    verified.proof.steps
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.compiler import compile_program
from rulesafe_design.sandbox import Refused
from rulesafe_design.verdicts import ProgramLimits
from rulesafe_locks.automata import Automaton, as_rule, automaton_of, possible, smallest
from rulesafe_locks.lock_files import Bound
from rulesafe_locks.locks import Rule
from rulesafe_locks.plans import apply_plan, plan_distance
from rulesafe_locks.proofs import Proof, prove
from rulesafe_locks.rules import RULES, load_rule

MAX_STEPS = 12
"""Maximum length of a shortest plan. A step takes about 65 frames, a memory covers 830 frames."""


@dataclass(frozen=True)
class VerifiedLock:
    """A lock that can be opened, with its proved properties."""

    automaton: Automaton
    bound: Bound | None
    """The bound of the agreement with the program; None: exact for all sequences."""
    proof: Proof
    digest: str
    """Digest of the behaviour, equal for equivalent locks."""


def verify(
    source: str,
    plan: Iterable[str] | None = None,
    known: Mapping[str, str] | None = None,
    limits: ProgramLimits = ProgramLimits(),
    max_steps: int = MAX_STEPS,
) -> VerifiedLock:
    """Compile a program in the sandbox and prove that its lock can be opened.

    Args:
        source: The program.
        plan: Events that should open the door; None: no plan to check.
        known: Digests of other locks, mapped to their ids; equivalent locks are refused.
        limits: The limits of the sandbox.
        max_steps: Maximum number of steps of a shortest plan.

    Raises:
        Refused: The sandbox refuses the program; or "trivial": the door is free at the start;
            "shut": no sequence opens it; "long": more than `max_steps` steps; "plan": the plan
            fails; "duplicate": a known lock is equivalent.
    """
    compiled = compile_program(source, limits)
    rule = as_rule(compiled.automaton, "the lock", "")
    check_use(rule, max_steps)
    if plan is not None:
        check_plan(rule, list(plan))
    digest = behaviour(compiled.automaton)
    if known and digest in known:
        raise Refused("duplicate", f"the lock behaves exactly like {known[digest]}")
    return VerifiedLock(compiled.automaton, compiled.bound, prove(rule), digest)


def check_use(rule: Rule, max_steps: int = MAX_STEPS) -> None:
    """Raise Refused "trivial", "shut" or "long" if a lock is not usable as a task."""
    if "door" not in rule.locked(rule.start()):
        raise Refused("trivial", "the door is free at the start, with all parts closed")
    steps = plan_distance(rule, rule.start())
    if steps is None:
        raise Refused(
            "shut",
            f"no sequence of knob and handle moves ever frees the door (all {prove(rule).states} "
            "reachable states were searched)",
        )
    if steps > max_steps:
        raise Refused("long", f"the shortest plan has {steps} steps; valid: at most {max_steps}")


def check_plan(rule: Rule, plan: list[str]) -> None:
    """Raise Refused "plan", with the step that fails, if the plan does not open the door."""
    try:
        after = apply_plan(rule, plan)
    except RuleSafeError as error:
        raise Refused("plan", f"the claimed plan fails: {error}") from None
    if not after.opened:
        raise Refused(
            "plan",
            "the claimed plan does not open the door; its last event must be 'door+'. "
            f"A valid plan: {', '.join(prove(rule).plan)}",
        )


def behaviour(automaton: Automaton) -> str:
    """Return a digest of the behaviour under the possible moves, equal for equivalent locks."""
    return smallest(possible(automaton)).digest


def known_digests(rules: Iterable[str] = RULES) -> dict[str, str]:
    """Return the digests of rules (default: the twenty rules of the paper), mapped to their ids."""
    return {_rule_digest(load_rule(rule)): rule for rule in rules}


@lru_cache(maxsize=1024)
def _rule_digest(rule: Rule) -> str:
    return behaviour(automaton_of(rule))
