"""The wireless remote's buttons."""

import pytest
from virtual import encode_remote

from h1_2_bridge.remote import BUTTONS, parse_combinations, pressed
from rulesafe_core.errors import RuleSafeError


@pytest.mark.parametrize("name", BUTTONS)
def test_each_button_alone(name):
    assert pressed(encode_remote([name])) == {name}


def test_bits_are_the_manufacturers():
    """xKeySwitchUnion: L1 is bit 1, A is bit 8, low byte first, after two header bytes."""
    assert pressed(b"\x55\x51\x02\x01" + bytes(36)) == {"L1", "A"}
    assert pressed(bytes(40)) == frozenset()


def test_combinations():
    assert parse_combinations("L1+A, L2+B") == ({"L1", "A"}, {"L2", "B"})
    assert parse_combinations("") == ()
    with pytest.raises(RuleSafeError, match="unknown button 'Z'; valid: R1, L1"):
        parse_combinations("L1+Z")
    with pytest.raises(RuleSafeError, match="40"):
        pressed(bytes(24))
