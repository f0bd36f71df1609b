"""The reasons for refusing a program, and the limits of programs (`sandbox` exports both)."""

from dataclasses import dataclass

from rulesafe_core.errors import RuleSafeError, unknown_name

SANDBOX_KINDS = {
    "syntax": "the program has a syntax error, is too large or has no check_lock(self)",
    "forbidden": "the program uses a feature that is not allowed, such as files or imports",
    "error": "the program raised an exception",
    "time": "the program exceeded a time limit",
    "memory": "the program exceeded the memory limit",
    "crash": "the process of the program ended unexpectedly",
    "output": "the process of the program sent too many messages or an invalid one",
    "clock": "the lock depends on how often check_lock is called, not only on the moves",
    "state": "the program stores a value on self that is not plain data",
    "planner": "a planner call failed",
}
KINDS = {
    **SANDBOX_KINDS,
    "states": "the program has more states than the limits allow, without regularity",
    "trivial": "the door is free at the start",
    "shut": "no sequence of moves frees the door",
    "long": "the shortest plan has too many steps",
    "plan": "the claimed plan does not open the door",
    "duplicate": "the lock behaves exactly like another lock",
}
"""The reasons for refusing a program: those of the sandbox, the compiler and the verifier."""


class Refused(RuleSafeError):
    """A program is refused. `kind`: one of KINDS.

    The message describes the error and, if known, the line of the program. Users and language
    models receive it.
    """

    def __init__(self, kind: str, message: str):
        if kind not in KINDS:
            raise unknown_name("kind of refusal", kind, KINDS)
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.kind, str(self))  # so that it can be pickled


@dataclass(frozen=True)
class ProgramLimits:
    """The limits of a program."""

    call_s: float = 0.5
    """Wall-clock time limit of one call of check_lock, or between two planner calls, in s. It is
    extended if the machine is busy and the program gets less than half of the CPU time."""
    cpu_s: float = 5.0
    """Total CPU time limit in s, rounded up to an integer."""
    wall_s: float = 10.0
    """Wall-clock time limit of the exploration, or of a task program between two planner calls, in
    s. It is never extended."""
    memory_mb: int = 512
    """Limit of the address space, including the Python interpreter, in MiB."""
    source_bytes: int = 65_536
    """Maximum size of the source."""
    output_bytes: int = 4_000_000
    """Maximum total size of the messages that the process sends."""
    states: int = 20_000
    """Maximum number of explored states of a lock program; only complete layers are kept."""
    events: int = 64
    """Maximum length of the explored move sequences of a lock program."""
    calls: int = 1000
    """Maximum number of planner calls of a task program."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise RuleSafeError(f"limit {name} is {value!r}; it must be greater than 0")
        if self.memory_mb < 64:
            raise RuleSafeError(f"limit memory_mb is {self.memory_mb}; Python needs at least 64")
