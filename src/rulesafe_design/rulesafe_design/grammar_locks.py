"""A lock of the grammar: its terms, put together to a description and a program."""

from collections.abc import Sequence
from dataclasses import dataclass

from rulesafe_design.grammar_codes import Code, Dial
from rulesafe_design.grammar_counts import Balance, Count, Equal
from rulesafe_design.grammar_events import (
    OTHER,
    Part,
    Phase,
    PhaseTest,
    Wording,
    listed,
    sentence,
)
from rulesafe_design.grammar_terms import Order, Seen
from rulesafe_locks.locks import PARTS

Term = Balance | Code | Count | Dial | Equal | Order | Seen


def clauses_of(condition: PhaseTest | Term) -> list[str]:
    """What must be so, to follow "while" or "unless"."""
    return condition.clauses if isinstance(condition, PhaseTest) else [condition.clause]


def together(clauses: Sequence[str]) -> str:
    """All of them, joined by "and"."""
    long = len(clauses) > 2 or any(" and " in clause for clause in clauses)
    return listed(clauses, ", and " if long else " and ")


@dataclass(frozen=True)
class Hold:
    """A stop that keeps a part in one phase unless something is so."""

    part: Part
    phase: Phase
    unless: PhaseTest | Term
    """A condition on the other part's phase, or a term of its own."""

    @property
    def words(self) -> str:
        """ "a stop keeps the handle from opening unless the knob is open"."""
        move = "opening" if self.phase == "closed" else "closing"
        return (
            f"a stop keeps the {self.part} from {move} unless {together(clauses_of(self.unless))}"
        )

    @property
    def aim(self) -> str:
        """ "So that the handle can be opened"."""
        return f"So that the {self.part} can be {'opened' if self.phase == 'closed' else 'closed'}"


@dataclass(frozen=True)
class LockDesign:
    """The door is free while all terms are satisfied and the phases are right."""

    terms: tuple[Term, ...]
    phases: PhaseTest | None = None
    """None: any."""
    hold: Hold | None = None

    @property
    def remembering(self) -> tuple[Term, ...]:
        """The terms, that of the hold first."""
        held = self.hold.unless if self.hold else None
        return self.terms if held is None or isinstance(held, PhaseTest) else (held, *self.terms)

    @property
    def conditions(self) -> tuple[PhaseTest | Term, ...]:
        """What the door waits for."""
        return (*self.terms, self.phases) if self.phases else self.terms

    @property
    def ends_with_move(self) -> str:
        """Where the terms notice a part only in the phase that it must leave in the end, the move
        that is left to do, such as "close the handle"; else nothing."""
        for part in OTHER:
            phase: Phase | None = getattr(self.phases, part, None)
            before = "open" if phase == "closed" else "closed"
            events = [event for term in self.terms for event in term.events]
            gated = [e.part == OTHER[part] and e.gate == before for e in events]
            if phase and gated and all(gated):
                return f"{'close' if phase == 'closed' else 'open'} the {part}"
        return ""


def description(lock: LockDesign, wording: Wording) -> str:
    """The instruction: what to do, what other moves do, and when the door is free."""
    said: list[str] = []
    if lock.hold:
        if not isinstance(lock.hold.unless, PhaseTest):
            first, *others = lock.hold.unless.sentences(wording)
            said += [f"{lock.hold.aim}, {_lowered(first)}", *others]
        said.append(sentence(lock.hold.words))
    for number, term in enumerate(lock.terms):
        first, *others = term.sentences(wording)
        if number:
            first = wording.pick("Also ", "Besides, ", "In addition, ") + _lowered(first)
        elif term is not lock.remembering[0]:
            first = f"For the door, {_lowered(first)}"
        said += [first, *others]
    return " ".join([*said, _ending(lock, wording)])


def _lowered(text: str) -> str:
    return text[0].lower() + text[1:]


def _ending(lock: LockDesign, wording: Wording) -> str:
    clauses = together([clause for each in lock.conditions for clause in clauses_of(each)])
    if last := lock.ends_with_move:
        return f"Then {last}: the door can be pulled while {clauses}."
    return wording.pick(
        f"The door can be pulled while {clauses}.",
        f"The door is free only while {clauses}.",
        f"The door stays locked unless {clauses}.",
    )


# Programs ---------------------------------------------------------------------------------------


def program(lock: LockDesign) -> str:
    """The source of `check_lock`."""
    body = [
        "# Query the open states of knob, handle and door",
        *(f"{part} = self.is_open(obj_name='safe', link_name='{part}')" for part in PARTS),
        "",
    ]
    terms = lock.remembering
    moved = [part for part in OTHER if any(f"{part}_moved" in line for line in _updates(terms))]
    if terms:
        body += _setup(terms, moved)
    for term in terms:
        body += [*term.update, ""]
    if lock.hold:
        body += _hold(lock.hold)
    body += _door(lock)
    if moved:
        body += ["", "# Remember the phases for the next call"]
        body += [f"state['last_{part}'] = {part}" for part in moved]
    return "def check_lock(self):\n" + "".join(f"    {line}".rstrip() + "\n" for line in body)


def _updates(terms: Sequence[Term]) -> list[str]:
    return [line for term in terms for line in term.update]


def _setup(terms: Sequence[Term], moved: Sequence[str]) -> list[str]:
    lines = [
        "# Initialize the task state if not already created",
        "if not hasattr(self, '_mech_state'):",
        "    self._mech_state = {}",
        "state = self._mech_state",
        *(f"state.setdefault('last_{part}', {part})" for part in moved),
    ]
    for term in terms:
        lines += [f"state.setdefault('{key}', {value})" for key, value in term.setup.items()]
    if moved:
        lines += ["", "# See what has moved since the last call"]
        lines += [f"{part}_moved = {part} != state['last_{part}']" for part in moved]
    return [*lines, ""]


def _hold(hold: Hold) -> list[str]:
    call = f"self.set_lock(obj_name='safe', link_name='{hold.part}', lock="
    there = hold.part if hold.phase == "open" else f"not {hold.part}"
    return [
        f"# {sentence(hold.words)[:-1]}",
        *_assigned(f"{hold.part}_may_move", hold.unless.tests),
        f"if {there} and not {hold.part}_may_move:",
        f"    {call}True)",
        "else:",
        f"    {call}False)",
        "",
    ]


def _door(lock: LockDesign) -> list[str]:
    call = "self.set_lock(obj_name='safe', link_name='door', lock="
    return [
        "# The door is free while the condition holds, or once it is open",
        *_assigned("is_right", [test for each in lock.conditions for test in each.tests]),
        "if is_right or door:",
        f"    {call}False)",
        "else:",
        f"    {call}True)",
    ]


def _assigned(name: str, tests: Sequence[str]) -> list[str]:
    """Lines that set a name to whether all tests are true."""
    line = f"{name} = {' and '.join(tests)}"
    if len(line) <= 80:
        return [line]
    first, *others = tests
    return [f"{name} = (", f"    {first}", *(f"    and {test}" for test in others), ")"]
