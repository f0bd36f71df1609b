"""Dataclasses are written as YAML that reads as the same dataclasses."""

import pytest
import yaml

from rulesafe_core.strict_yaml import build
from rulesafe_sim.safes import SAFES, SafeFile, SafeParts, load_safe
from rulesafe_urdf.yaml_writer import dump, to_data


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
