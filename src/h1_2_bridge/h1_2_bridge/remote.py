"""Decode the buttons of the wireless remote, 40 bytes of each robot state.

The layout is that of the manufacturer's SDK (xRockerBtnDataStruct): two header bytes, 16 button
bits, then the sticks lx, rx, ry, an unused float and ly as little-endian floats.
"""

import struct

from rulesafe_core.errors import RuleSafeError, unknown_name

SIZE = 40
"""Size of `wireless_remote`, bytes."""

BUTTONS = (
    *("R1", "L1", "start", "select", "R2", "L2", "F1", "F2"),
    *("A", "B", "X", "Y", "up", "right", "down", "left"),
)
"""Button names by bit, the lowest first."""


def pressed(remote: bytes) -> frozenset[str]:
    """Return the pressed buttons. Raises RuleSafeError for a wrong size."""
    if len(remote) != SIZE:
        raise RuleSafeError(f"wireless_remote has {len(remote)} bytes; valid: {SIZE}")
    (bits,) = struct.unpack_from("<H", remote, 2)
    return frozenset(name for i, name in enumerate(BUTTONS) if bits >> i & 1)


def parse_combinations(text: str) -> tuple[frozenset[str], ...]:
    """Parse comma-separated button combinations such as "L1+A,L2+B". Raises RuleSafeError for an
    unknown button."""
    combinations = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        names = frozenset(name.strip() for name in part.split("+"))
        for name in names:
            if name not in BUTTONS:
                raise unknown_name("button", name, BUTTONS)
        combinations.append(names)
    return tuple(combinations)
