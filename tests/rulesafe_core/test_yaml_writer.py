"""Dataclasses are written as YAML that reads as the same dataclasses."""

import pytest
import yaml

from rulesafe_core.body import Material
from rulesafe_core.nested import replace_nested
from rulesafe_core.strict_yaml import build
from rulesafe_core.yaml_writer import dump, to_data
from rulesafe_sim.safes import SAFES, SafeFile, SafeParts, load_safe


@pytest.fixture(params=SAFES)
def content(request) -> SafeFile:
    safe = load_safe(request.param)
    parts = SafeParts(safe.knob, safe.handle, safe.door)
    assert not hasattr(safe.case, "meshes")
    return SafeFile(safe.title, safe.hinge, safe.looks, parts, safe.case)  # type: ignore[arg-type]


def test_what_is_written_is_read_again(content):
    text = dump(to_data(content))
    again = build(SafeFile, yaml.safe_load(text), "again.yaml")
    assert again.case == content.case
    assert again.parts.knob.shape == content.parts.knob.shape
    assert again.parts.handle.grasp == content.parts.handle.grasp
    assert again.parts.door.range == pytest.approx(content.parts.door.range)
    assert again.looks == content.looks
    assert dump(to_data(again)) == text
    assert max(map(len, text.splitlines())) <= 100


def test_nested_values_are_replaced_and_others_kept(content):
    red = replace_nested(content, Material, lambda each: Material((1.0, 0.0, 0.0)))
    assert {red.looks.case.color, red.looks.trim.color} == {(1.0, 0.0, 0.0)}
    assert red.parts is content.parts
    assert replace_nested(content, Material, lambda each: each) is content
