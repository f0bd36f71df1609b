"""Why programs are refused, and their limits. `sandbox` has both names too."""

from dataclasses import dataclass

from rulesafe_core.errors import RuleSafeError, unknown_name

SANDBOX_KINDS = {
    "syntax": "not a program of the accepted form: no Python, or no check_lock(self)",
    "forbidden": "it reaches for what the sandbox does not give: files, imports, inner attributes",
    "error": "it raised an error",
    "time": "it ran longer than the limits allow",
    "memory": "it took more memory than the limits allow",
    "crash": "its process died",
    "output": "it said more, or other things, than a program can say",
    "clock": "the lock depends on how often it is asked, not on moves alone",
    "state": "it keeps on self what is not plain data",
    "planner": "a call of the planner ended with an error",
}
KINDS = {
    **SANDBOX_KINDS,
    "states": "it has more states than the limits allow, and they show no regularity",
    "trivial": "the door is free at the start",
    "shut": "no sequence of moves frees the door",
    "long": "the shortest plan has too many steps",
    "plan": "the claimed plan does not open the door",
    "duplicate": "it behaves exactly as another lock does",
}
"""Why a program is refused: the sandbox's reasons, then those of compiler and verifier."""


class Refused(RuleSafeError):
    """A program is not accepted. `kind`: one of KINDS. The message, for people and models, has the
    fault and, if known, the line of the program."""

    def __init__(self, kind: str, message: str):
        if kind not in KINDS:
            raise unknown_name("kind of refusal", kind, KINDS)
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.kind, str(self))  # to another process and back


@dataclass(frozen=True)
class ProgramLimits:
    """The limits of a program."""

    call_s: float = 0.5
    """s, wall clock, for one call of check_lock, or between two calls of the planner; more where
    the machine is so busy that the program gets less than half of it."""
    cpu_s: float = 5.0
    """s of CPU time in all, rounded up to an integer."""
    wall_s: float = 10.0
    """s, wall clock, for the exploration, or for a task program between two calls, whatever else
    the machine does."""
    memory_mb: int = 512
    """MiB of address space, Python itself included."""
    source_bytes: int = 65_536
    output_bytes: int = 4_000_000
    """Maximum size of all messages of the process."""
    states: int = 20_000
    """Maximum number of explored states of a lock program; layers of moves are complete."""
    events: int = 64
    """Moves up to which a lock program is explored."""
    calls: int = 1000
    """Calls of the planner that a task program may make."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise RuleSafeError(f"limit {name}: {value!r} is not above 0")
        if self.memory_mb < 64:
            raise RuleSafeError(f"limit memory_mb: {self.memory_mb}; Python itself needs 64")
