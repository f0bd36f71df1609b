"""Random and hostile content for a reader of a file: with bounded work, it is read or refused with
a RuleSafeError.

A test gives FEW inputs to each reader; `make fuzz` gives 10 000 (RULESAFE_FUZZ).
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rulesafe_core.errors import RuleSafeError

FEW = 40
INPUTS = int(os.environ.get("RULESAFE_FUZZ", FEW))
CALLS = 10**6
"""Largest work of a reader with one input, in calls of functions; most need fewer than 10**5."""

SNIPPETS = [
    *(
        "[" * 2000,
        "{" * 2000,
        "- " * 500,
        '{"a":' * 500,
        "(" * 300,
        "<group>" * 300,
        "$(eval " * 200,
    ),
    *("[/red]", "[bold]", "\x1b]0;t\x07", "\\u001b[31m", "\x9b", "\x00", "\ud7ff", "é" * 99),
    *("&a [*a]", "&a ", "*a", "<<: *a", "!!timestamp x", "!!python/name:os.system", "2001-99-99"),
    *("9**9**9", '"a"*10**10', "1e999", "-1", "0", "9" * 5000, "NaN", "Infinity", "null", "true"),
    *("{}", "[]", '""', "{a: 1}", "../../etc/passwd", "/dev/zero", "%99999999d", "$(env HOME)"),
    *("[[0]*9999]*9999", "len(str([[[0]*9999]*9999]*9999))", "[[[0]*999]*999]*999==0"),
]
EDITS = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.integers(0, 40),
        st.one_of(st.sampled_from(SNIPPETS).map(str.encode), st.binary(max_size=8)),
    ),
    min_size=1,
    max_size=4,
)
HOSTILE = st.one_of(
    EDITS, st.one_of(st.sampled_from(SNIPPETS).map(str.encode), st.binary(max_size=99))
)
"""Edits of valid content (position, deleted bytes, inserted bytes), or other content."""


def edited(content: bytes, change: list[tuple[float, int, bytes]] | bytes) -> bytes:
    """Return hostile content."""
    if isinstance(change, bytes):
        return change
    for position, deleted, inserted in change:
        start = int(position * (len(content) + 1))
        content = content[:start] + inserted + content[start + deleted :]
    return content


@dataclass(frozen=True)
class Target:
    """A reader of a file.

    Attributes:
        file: path of the file, of which the content changes.
        read: reads the file, or the folder in which it is.
        allowed: further exceptions of the reader that its callers handle.
    """

    file: Path
    read: Callable[[], object]
    allowed: tuple[type[Exception], ...] = ()


FUZZ = settings(
    max_examples=INPUTS,
    deadline=None,
    derandomize=INPUTS == FEW,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def attack(target: Target, work) -> None:
    """Give hostile content to a reader, after its valid content. `work`: the fixture."""
    target.read()
    content = target.file.read_bytes()

    @FUZZ
    @given(HOSTILE)
    def attacked(change):
        target.file.write_bytes(edited(content, change))
        with work() as done:
            try:
                target.read()
            except (RuleSafeError, FileNotFoundError, *target.allowed) as error:
                assert str(error)
        assert done.calls < CALLS

    attacked()
