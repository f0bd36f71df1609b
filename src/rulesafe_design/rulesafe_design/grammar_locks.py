"""Create the description and the program of a lock from its terms."""

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
    join_items,
    sentence,
)
from rulesafe_design.grammar_terms import Order, Seen
from rulesafe_locks.locks import PARTS

Term = Balance | Code | Count | Dial | Equal | Order | Seen


def clauses_of(condition: PhaseTest | Term) -> list[str]:
    """Return the condition as clauses that can follow "while" or "unless"."""
    return condition.clauses if isinstance(condition, PhaseTest) else [condition.clause]


def join_clauses(clauses: Sequence[str]) -> str:
    """Return the clauses joined by "and"."""
    long = len(clauses) > 2 or any(" and " in clause for clause in clauses)
    return join_items(clauses, ", and " if long else " and ")


@dataclass(frozen=True)
class Hold:
    """A stop that locks a part in one phase unless a condition is satisfied."""

    part: Part
    phase: Phase
    unless: PhaseTest | Term
    """A condition on the phase of the other part, or a separate term."""

    @property
    def description(self) -> str:
        """A text such as "a stop keeps the handle from opening unless the knob is open"."""
        move = "opening" if self.phase == "closed" else "closing"
        return (
            f"a stop keeps the {self.part} from {move} "
            f"unless {join_clauses(clauses_of(self.unless))}"
        )

    @property
    def purpose(self) -> str:
        """A text such as "So that the handle can be opened"."""
        return f"So that the {self.part} can be {'opened' if self.phase == 'closed' else 'closed'}"


@dataclass(frozen=True)
class LockDesign:
    """A lock whose door is free while all terms and the phase condition are satisfied."""

    terms: tuple[Term, ...]
    phases: PhaseTest | None = None
    """The phase condition; None: any phases."""
    hold: Hold | None = None

    @property
    def all_terms(self) -> tuple[Term, ...]:
        """All terms, beginning with the term of the hold."""
        unless = self.hold.unless if self.hold else None
        if unless is None or isinstance(unless, PhaseTest):
            return self.terms
        return (unless, *self.terms)

    @property
    def conditions(self) -> tuple[PhaseTest | Term, ...]:
        """The conditions for opening the door."""
        return (*self.terms, self.phases) if self.phases else self.terms

    @property
    def ends_with_move(self) -> str:
        """The final move, such as "close the handle"; empty if there is none.

        There is one if every event of the terms requires one phase of a part (for example "handle
        open") and the phase condition for opening the door requires the other ("handle closed").
        """
        for part in OTHER:
            phase: Phase | None = getattr(self.phases, part, None)
            before = "open" if phase == "closed" else "closed"
            events = [event for term in self.terms for event in term.events]
            gated = [e.part == OTHER[part] and e.gate == before for e in events]
            if phase and gated and all(gated):
                return f"{'close' if phase == 'closed' else 'open'} the {part}"
        return ""


def description(lock: LockDesign, wording: Wording) -> str:
    """Return the instruction: what to do, the effect of other moves, and when the door is free."""
    sentences: list[str] = []
    if lock.hold:
        if not isinstance(lock.hold.unless, PhaseTest):
            first, *others = lock.hold.unless.sentences(wording)
            sentences += [f"{lock.hold.purpose}, {_lowered(first)}", *others]
        sentences.append(sentence(lock.hold.description))
    for number, term in enumerate(lock.terms):
        first, *others = term.sentences(wording)
        if number:
            first = wording.pick("Also ", "Besides, ", "In addition, ") + _lowered(first)
        elif term is not lock.all_terms[0]:
            first = f"For the door, {_lowered(first)}"
        sentences += [first, *others]
    return " ".join([*sentences, _ending(lock, wording)])


def short_instruction(lock: LockDesign) -> str:
    """Return the conditions of the lock in few words, for models with a token limit.

    Example: "Code 10: close knob=1, handle=0; knob open. Handle opens only if knob closed".
    docs/lock_design.md explains the phrases. The text may exceed `instructions.MAX_TOKENS`.
    """
    conditions = "; ".join(each.short for each in lock.conditions)
    if not lock.terms:
        conditions = f"door opens only if {conditions}"
    texts = [conditions]
    if lock.hold:
        part, opens = lock.hold.part, lock.hold.phase == "closed"
        if isinstance(lock.hold.unless, PhaseTest):
            texts.append(
                f"{part} {'opens' if opens else 'closes'} only if {lock.hold.unless.short}"
            )
        else:
            to = f"to {'open' if opens else 'close'} {part}: {lock.hold.unless.short}"
            texts = [to, f"door: {conditions}"]
    return ". ".join(text[0].upper() + text[1:] for text in texts)


def _lowered(text: str) -> str:
    return text[0].lower() + text[1:]


def _ending(lock: LockDesign, wording: Wording) -> str:
    clauses = join_clauses([clause for each in lock.conditions for clause in clauses_of(each)])
    if last := lock.ends_with_move:
        return f"Then {last}: the door can be pulled while {clauses}."
    return wording.pick(
        f"The door can be pulled while {clauses}.",
        f"The door is free only while {clauses}.",
        f"The door stays locked unless {clauses}.",
    )


# Programs ---------------------------------------------------------------------------------------


def program(lock: LockDesign) -> str:
    """Return the source of `check_lock`."""
    body = [
        "# Query the open states of knob, handle and door",
        *(f"{part} = self.is_open(obj_name='safe', link_name='{part}')" for part in PARTS),
        "",
    ]
    terms = lock.all_terms
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
    in_phase = hold.part if hold.phase == "open" else f"not {hold.part}"
    return [
        f"# {sentence(hold.description)[:-1]}",
        *_assigned(f"{hold.part}_may_move", hold.unless.tests),
        f"if {in_phase} and not {hold.part}_may_move:",
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
    """Return the lines that assign the conjunction of the tests to a name."""
    line = f"{name} = {' and '.join(tests)}"
    if len(line) <= 80:
        return [line]
    first, *others = tests
    return [f"{name} = (", f"    {first}", *(f"    and {test}" for test in others), ")"]
