"""The twenty lock rules as short pure functions over events. docs/rules.md has the definitions.

Every memory takes finitely many values. Where a count is limited although the rule has no limit, a
comment explains why the behaviour is the same.

Example::

    lock = Lock(load_rule("rule_001"))
    lock.update({"knob": True, "handle": True, "door": False})["door"]  # False: unlocked
"""

from collections.abc import Callable

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_locks.lock_files import find_lock
from rulesafe_locks.locks import PARTS, Lock, Memory, OnEvent, Phases, Rule

__all__ = ["PARTS", "RULES", "Lock", "Rule", "load_rule"]

KNOB = ("knob+", "knob-")
HANDLE = ("handle+", "handle-")


def keypad(length: int, digit: Callable[[Phases, str], int | None]) -> OnEvent:
    """Return a memory of the last `length` digits; `digit` maps an event to its digit or None."""

    def on_event(memory: Memory, phases: Phases, event: str) -> Memory:
        entered = digit(phases, event)
        return memory if entered is None else (*memory, entered)[-length:]

    return on_event


def knob_with_handle_open(phases: Phases, event: str) -> int | None:
    """Return the digit of rules 019 and 020: with open handle, 1 for "knob+" and 0 for "knob-"."""
    return {"knob+": 1, "knob-": 0}.get(event) if phases.handle else None


# Memories of individual rules, by number ------------------------------------------------------


def _toggled_007(memory: Memory, phases: Phases, event: str) -> Memory:
    knob, handle = memory
    return (1, handle) if event in KNOB else (knob, 1)


def _parity_008(memory: Memory, phases: Phases, event: str) -> Memory:
    # 0, 1, 2, 1, 2, ...: the rule depends only on whether the count is even and above 1.
    if event in KNOB:
        return memory
    return (2,) if memory == (1,) else (1,)


def _combinations_012(memory: Memory, phases: Phases, event: str) -> Memory:
    return tuple(sorted({*memory, 2 * phases.knob + phases.handle}))


def _thirds_013(memory: Memory, phases: Phases, event: str) -> Memory:
    # 0, 1, 2, 3, 1, 2, 3, ...: 3 represents all multiples of 3 above 0.
    return (memory[0] % 3 + 1,) if event in KNOB else memory


def _counts_015(memory: Memory, phases: Phases, event: str) -> Memory:
    knob_opened = memory[0] + (event == "knob+")
    handle_closed = memory[1] + (event == "handle-")
    return (0, 0) if 3 in (knob_opened, handle_closed) else (knob_opened, handle_closed)


def _counts_017(memory: Memory, phases: Phases, event: str) -> Memory:
    # Counts of 5 or more are never a factor of 4, so 5 represents all of them.
    knob, handle = memory
    return (min(knob + 1, 5), handle) if event in KNOB else (knob, min(handle + 1, 5))


def _counter_018(memory: Memory, phases: Phases, event: str) -> Memory:
    # The counter, then the last digits. The code has no digit above 3: 4 represents them all.
    counter, *digits = memory
    if event in KNOB:
        return (min(counter + 1, 4), *digits)
    return (1, *[*digits, counter][-3:])


_ALL = (
    Rule(
        "rule_001",
        "Open the knob and the handle, in any order. The door can be pulled while both are open.",
        short_instruction="The door is locked unless the knob and the handle are both open.",
        unlocked=lambda memory, phases: phases.knob and phases.handle,
    ),
    Rule(
        "rule_002",
        "Open the knob. The door can be pulled while the knob is open; the handle plays no part.",
        short_instruction="The door is locked unless the knob is open.",
        unlocked=lambda memory, phases: phases.knob,
    ),
    Rule(
        "rule_003",
        "Open the handle. The door can be pulled while the handle is open; the knob plays no part.",
        short_instruction="The door is locked unless the handle is open.",
        unlocked=lambda memory, phases: phases.handle,
    ),
    Rule(
        "rule_004",
        "The door can be pulled while both the knob and the handle are open. The closed knob "
        "cannot be turned while the handle is closed.",
        short_instruction="The door is locked unless the knob and the handle are both open. The "
        "knob cannot be opened while the handle is closed.",
        unlocked=lambda memory, phases: phases.knob and phases.handle,
        locked_parts=lambda memory, phases: frozenset(
            () if phases.knob or phases.handle else ("knob",),
        ),
    ),
    Rule(
        "rule_005",
        "Enter the code 0-0-1. Every knob move, either way, is a 0 and every handle move a 1; the "
        "last three digits count.",
        short_instruction="Enter the code 001: every knob move, either way, is 0 and every handle "
        "move 1. The last three digits count.",
        unlocked=lambda memory, phases: memory == (0, 0, 1),
        on_event=keypad(3, lambda phases, event: 0 if event in KNOB else 1),
        remembers="the last three digits",
    ),
    Rule(
        "rule_006",
        "Enter the code 0-1-0 with the knob. A knob move, either way, is a 0 while the handle is "
        "open and a 1 while it is closed; the last three digits count.",
        short_instruction="Enter the code 010: a knob move, either way, is 0 while the handle is "
        "open, else 1. The last three digits count.",
        unlocked=lambda memory, phases: memory == (0, 1, 0),
        on_event=keypad(3, lambda phases, event: int(not phases.handle) if event in KNOB else None),
        remembers="the last three digits",
    ),
    Rule(
        "rule_007",
        "Move the knob and the handle at least once each, and leave one of them open and the "
        "other closed.",
        short_instruction="Move the knob and the handle at least once each, and leave exactly one "
        "of them open.",
        unlocked=lambda memory, phases: memory == (1, 1) and phases.knob != phases.handle,
        memory=(0, 0),
        on_event=_toggled_007,
        remembers="whether the knob and whether the handle has moved yet",
    ),
    Rule(
        "rule_008",
        "Leave the knob open and move the handle an even number of times, at least twice; opening "
        "is one move and closing another.",
        short_instruction="Leave the knob open and move the handle an even number of times, at "
        "least twice. Each opening or closing is one move.",
        unlocked=lambda memory, phases: phases.knob and memory == (2,),
        memory=(0,),
        on_event=_parity_008,
        remembers="handle moves: 0 for none, 1 for an odd number, 2 for an even number above 0",
    ),
    Rule(
        "rule_009",
        "Enter the code 1-0-0-1. Every knob move, either way, is a 1 and every handle move a 0; "
        "the last four digits count.",
        short_instruction="Enter the code 1001: every knob move, either way, is 1 and every "
        "handle move 0. The last four digits count.",
        unlocked=lambda memory, phases: memory == (1, 0, 0, 1),
        on_event=keypad(4, lambda phases, event: 1 if event in KNOB else 0),
        remembers="the last four digits",
    ),
    Rule(
        "rule_010",
        "Enter the code 0-1-1-0 with the handle. A handle move, either way, is a 0 while the knob "
        "is open and a 1 while it is closed; the last four digits count.",
        short_instruction="Enter the code 0110: a handle move, either way, is 0 while the knob is "
        "open, else 1. The last four digits count.",
        unlocked=lambda memory, phases: memory == (0, 1, 1, 0),
        on_event=keypad(4, lambda phases, event: int(not phases.knob) if event in HANDLE else None),
        remembers="the last four digits",
    ),
    Rule(
        "rule_011",
        "Enter the code 1-0-1-0 with the knob: closing it is a 1, opening it a 0, and the last "
        "four digits count. The handle plays no part.",
        short_instruction="Enter the code 1010 with the knob: closing it is 1, opening it is 0. "
        "The last four digits count. The handle has no effect.",
        unlocked=lambda memory, phases: memory == (1, 0, 1, 0),
        on_event=keypad(4, lambda phases, event: {"knob-": 1, "knob+": 0}.get(event)),
        remembers="the last four digits",
    ),
    Rule(
        "rule_012",
        "Bring the knob and the handle through all four combinations of open and closed. Both "
        "closed, as they start, counts as the first.",
        short_instruction="Bring the knob and the handle through all four combinations of open "
        "and closed. Both closed at the start counts.",
        unlocked=lambda memory, phases: memory == (0, 1, 2, 3),
        memory=(0,),
        on_event=_combinations_012,
        remembers="the combinations that occurred, each as 2 x knob + handle (open = 1)",
    ),
    Rule(
        "rule_013",
        "Move the knob three times, or six, or any further multiple of three, and have the handle "
        "open; every opening or closing is one move.",
        short_instruction="Have the handle open, and the number of knob moves a multiple of three "
        "above zero. Each opening or closing is one move.",
        unlocked=lambda memory, phases: phases.handle and memory == (3,),
        memory=(0,),
        on_event=_thirds_013,
        remembers="number of knob moves: 0, then repeatedly 1 to 3",
    ),
    Rule(
        "rule_014",
        "The door can be pulled while the knob is closed and the handle is open. The closed handle "
        "cannot be turned while the knob is closed.",
        short_instruction="The door is locked unless the knob is closed and the handle is open. "
        "The handle cannot be opened while the knob is closed.",
        unlocked=lambda memory, phases: phases.handle and not phases.knob,
        locked_parts=lambda memory, phases: frozenset(
            () if phases.knob or phases.handle else ("handle",),
        ),
    ),
    Rule(
        "rule_015",
        "Open the knob and close the handle equally often, at least twice each. As soon as either "
        "has been done three times, both counts start again from zero.",
        short_instruction="Open the knob as often as you close the handle, at least twice each. "
        "Both counts restart at zero when either reaches three.",
        unlocked=lambda memory, phases: memory == (2, 2),
        memory=(0, 0),
        on_event=_counts_015,
        remembers="how often the knob was opened and how often the handle was closed",
    ),
    Rule(
        "rule_016",
        "Enter the code 1-1-1-0: closing the knob is a 1, opening the handle a 0, and other moves "
        "enter nothing. The last four digits count.",
        short_instruction="Enter the code 1110: closing the knob is 1, opening the handle is 0, "
        "other moves enter nothing. The last four digits count.",
        unlocked=lambda memory, phases: memory == (1, 1, 1, 0),
        on_event=keypad(4, lambda phases, event: {"knob-": 1, "handle+": 0}.get(event)),
        remembers="the last four digits",
    ),
    Rule(
        "rule_017",
        "Move the knob and the handle so that the number of knob moves times the number of handle "
        "moves is four; every opening or closing is one move.",
        short_instruction="The number of knob moves times the number of handle moves must be "
        "four. Each opening or closing is one move.",
        unlocked=lambda memory, phases: memory[0] * memory[1] == 4,
        memory=(0, 0),
        on_event=_counts_017,
        remembers="number of knob moves and number of handle moves, 5 for five or more",
    ),
    Rule(
        "rule_018",
        "Enter the code 1-2-3. A counter stands at one; every knob move adds one to it, and every "
        "handle move enters its value and sets it back to one. The last three digits count.",
        short_instruction="Enter the code 123: a handle move enters the counter, which starts at "
        "1, and sets it back. A knob move adds 1. The last three digits count.",
        unlocked=lambda memory, phases: memory[1:] == (1, 2, 3),
        memory=(1,),
        on_event=_counter_018,
        remembers="the counter, then the last three digits, 4 for four or more",
    ),
    Rule(
        "rule_019",
        "Enter the code 0-1 with the knob while the handle is open: closing the knob is a 0, "
        "opening it a 1, and the last two digits count. Then close the handle to free the door. "
        "With the handle closed, knob moves enter nothing.",
        short_instruction="Enter the code 01 with the knob while the handle is open: closing is "
        "0, opening is 1. The last two digits count. Then close the handle.",
        unlocked=lambda memory, phases: memory == (0, 1) and not phases.handle,
        on_event=keypad(2, knob_with_handle_open),
        remembers="the last two digits",
    ),
    Rule(
        "rule_020",
        "Enter the code 1-1 with the knob while the handle is open: closing the knob is a 0, "
        "opening it a 1, and the last two digits count. Then close the handle to free the door. "
        "With the handle closed, knob moves enter nothing.",
        short_instruction="Enter the code 11 with the knob while the handle is open: closing is "
        "0, opening is 1. The last two digits count. Then close the handle.",
        unlocked=lambda memory, phases: memory == (1, 1) and not phases.handle,
        on_event=keypad(2, knob_with_handle_open),
        remembers="the last two digits",
    ),
)
_BY_ID = {rule.id: rule for rule in _ALL}

RULES = tuple(_BY_ID)
"""The ids of the twenty rules, in order."""


def load_rule(rule_id: str | Rule) -> Rule:
    """Load a rule.

    Args:
        rule_id: ID of one of the twenty rules or of a generated lock, path of a .json lock file,
            or a `Rule`, which is returned unchanged.

    Raises:
        RuleSafeError: there is no such rule; the message lists what is valid.
    """
    if isinstance(rule_id, Rule):
        return rule_id
    if rule_id in RULES:
        return _BY_ID[rule_id]
    lock = find_lock(rule_id)
    if lock is None:
        valid = (*RULES, "ids of generated locks (rulesafe rules list)", "paths of .json files")
        raise unknown_name("rule", rule_id, valid)
    if lock.id in RULES:
        raise RuleSafeError(f"{rule_id}: the id {lock.id} is one of a built-in rule; rename it")
    return lock.rule
