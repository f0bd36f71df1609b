"""Values in nested dataclasses are replaced."""

from rulesafe_core.body import Material
from rulesafe_core.nested import replace_nested
from rulesafe_sim.safes import load_safe


def test_nested_values_are_replaced_and_others_kept():
    safe = load_safe("safe_03")
    red = replace_nested(safe, Material, lambda each: Material((1.0, 0.0, 0.0)))
    assert {red.looks.case.color, red.looks.trim.color} == {(1.0, 0.0, 0.0)}
    assert red.door is safe.door
    assert replace_nested(safe, Material, lambda each: each) is safe
