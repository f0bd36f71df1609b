"""The wireless remote, as it comes with each state: 40 bytes, of which 2 and 3 are the buttons.

Layout: the manufacturer's SDK for its remote (xRockerBtnDataStruct: two bytes of head, 16 bits of
buttons, then the sticks lx, rx, ry, an unused float, ly as little-endian floats).
"""

import struct
from collections.abc import Iterable

from rulesafe_core.errors import RuleSafeError, unknown_name

SIZE = 40
"""Bytes of `wireless_remote`."""

BUTTONS = (
    *("R1", "L1", "start", "select", "R2", "L2", "F1", "F2"),
    *("A", "B", "X", "Y", "up", "right", "down", "left"),
)
"""By bit, the lowest first."""


def pressed(remote: bytes) -> frozenset[str]:
    """The buttons that are down. Errors: RuleSafeError for a wrong number of bytes."""
    if len(remote) != SIZE:
        raise RuleSafeError(f"the remote's data has {len(remote)} bytes; valid: {SIZE}")
    (bits,) = struct.unpack_from("<H", remote, 2)
    return frozenset(name for i, name in enumerate(BUTTONS) if bits >> i & 1)


def encode(buttons: Iterable[str]) -> bytes:
    """The 40 bytes with these buttons down and the sticks in the middle: for tests and simulations.

    Errors: RuleSafeError for an unknown button.
    """
    bits = 0
    for name in buttons:
        if name not in BUTTONS:
            raise unknown_name("button", name, BUTTONS)
        bits |= 1 << BUTTONS.index(name)
    return struct.pack("<xxH", bits).ljust(SIZE, b"\0")


def parse_combinations(text: str) -> tuple[frozenset[str], ...]:
    """What a parameter says: combinations with a comma between them, each buttons with a plus, as
    in "L1+A,L2+B". Errors: RuleSafeError for an unknown button."""
    combinations = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        names = frozenset(name.strip() for name in part.split("+"))
        for name in names:
            if name not in BUTTONS:
                raise unknown_name("button", name, BUTTONS)
        combinations.append(names)
    return tuple(combinations)
