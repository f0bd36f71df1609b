import json
import re
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from vq_memory_node.memory import (
    MEMORIES,
    Memory,
    MemoryShape,
    NoMemory,
    RawMemory,
    VqMemory,
    make_memory,
    memory_from,
    published_memory,
)
from vq_memory_node.rolling import RollingMemory, readings_of

SHAPES = {
    "none": MemoryShape("none", 0, 0),
    "raw": MemoryShape("raw", 6, 0),
    "vq": MemoryShape("tokens", 6, 4),
}


@pytest.fixture
def memories():
    """A memory of each kind, by name, with length 6 if it has a length."""
    return {
        "none": NoMemory(),
        "raw": RawMemory(6),
        "vq": VqMemory("rule_001_rule_020_hand", length=6),
    }


@pytest.mark.parametrize("kind", MEMORIES.builtin)
def test_a_memory_comes_back_from_its_description(kind, memories):
    described = memories[kind].describe()
    assert described["kind"] == kind
    assert memory_from(described) == memories[kind]
    assert ("hash" in described) == (kind == "vq")


def test_published_tokens_are_those_of_the_policy_unless_told(tmp_path, memories):
    assert published_memory("two_level_all_rules") == published_memory("") == VqMemory()
    assert published_memory("my_policies:Remembering") == VqMemory()
    for kind, memory in memories.items():
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "policy.json").write_text(json.dumps({"memory": memory.describe()}))
    own = published_memory(str(tmp_path / "vq"))
    assert own == memories["vq"] and own.hash == memories["vq"].hash
    assert published_memory(str(tmp_path / "vq"), clusters=2, length=9) == VqMemory(own.model, 2, 9)
    assert published_memory(str(tmp_path / "vq"), "all_rules").model == "all_rules"
    assert published_memory(str(tmp_path / "raw")) == VqMemory()
    changed = memories["vq"].describe() | {"hash": "0" * 64}
    (tmp_path / "vq/policy.json").write_text(json.dumps({"memory": changed}))
    with pytest.raises(RuleSafeError, match="has changed since the training"):
        published_memory(str(tmp_path / "vq"))


@pytest.mark.parametrize("kind", MEMORIES.builtin)
def test_the_shape_is_that_of_the_readings(kind, memories):
    config = memories[kind]
    assert config.shape == SHAPES[kind]
    path = np.cumsum(np.full((80, 13), 0.01, np.float32), axis=0)
    readings = readings_of(path, config)
    assert readings.mask.shape == (80, config.shape.length)
    assert readings.values.shape == (80, config.length, *((13,) if kind == "raw" else ()))
    if config.vocabulary:
        assert readings.values.max() < config.vocabulary


@pytest.mark.parametrize("trained", ["0" * 64, "", None])
def test_a_description_without_the_hash_of_its_tokenizer_is_refused(trained, memories):
    """Another tokenizer may have the same name."""
    described = memories["vq"].describe() | {"hash": trained}
    if trained is None:
        del described["hash"]
    with pytest.raises(RuleSafeError, match="_hand has changed since the training"):
        memory_from(described)
    with pytest.raises(RuleSafeError, match="has changed since the training"):
        memory_from({"kind": "raw", "hash": "0" * 64})


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("frames", {}, "valid: none, raw, vq, "),
        ("none", {"length": 20}, "has no setting 'length'; it has: none"),
        ("raw", {"clusters": 4}, "has no setting 'clusters'; it has: length"),
        ("vq_memory_node.memory:TokenMemory", {}, "requires the setting 'model'"),
        ("raw", {"length": 0}, "length is 0; valid: 1 or more"),
        ("vq", {"length": 0}, "length is 0; valid: 1 or more"),
    ],
)
def test_invalid_memories_are_rejected(kind, settings, message):
    with pytest.raises(RuleSafeError, match=message):
        make_memory(kind, **settings)


def test_settings_that_are_none_take_the_default():
    assert make_memory("vq", model=None, clusters=2, length=None) == VqMemory(clusters=2)


GRIP = """
from dataclasses import dataclass
from vq_memory_node.memory import Memory

@dataclass(frozen=True)
class Grip(Memory):
    length: int = 40
    closed: float = 0.5
    vocabulary = 2
    def value(self, window):
        assert window.shape == (1, 13)
        return int(window[-1, 8] > self.closed)

class Other: ...
"""


@pytest.fixture
def grip(tmp_path, monkeypatch):
    """A module of another package that contains a memory."""
    (tmp_path / "grip_memory.py").write_text(GRIP)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "grip_memory:Grip"
    sys.modules.pop("grip_memory", None)


def test_a_memory_of_another_package_is_like_a_built_in_one(grip):
    memory = make_memory(grip, length=6, closed=0.25)
    assert memory.describe() == {"kind": grip, "length": 6, "closed": 0.25}
    assert memory_from(memory.describe()) == memory
    assert memory.shape == MemoryShape("tokens", 6, 2)
    path = np.linspace(0, 0.5, 80, dtype=np.float32)[:, None].repeat(13, axis=1)
    assert readings_of(path, memory)[79].values.tolist() == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("grip_memory:Other", "'grip_memory:Other' must be a subclass of vq_memory_node.memory"),
        ("subprocess:Popen", "'subprocess:Popen' must be a subclass"),
        ("subprocess:run", "'subprocess:run' must be a subclass"),
        ("grip_memory:Nothing", "valid: Grip, Other"),
    ],
)
def test_what_is_not_a_memory_is_never_called(grip, name, message, monkeypatch):
    """A checkpoint contains the name of its memory, which must not execute other code."""
    monkeypatch.setenv("RULESAFE_ALLOW_MODULES", "grip_memory")
    with pytest.raises(RuleSafeError, match=message):
        memory_from({"kind": name, "args": ["true"]})


def test_the_shortest_memory_holds_one_value():
    assert make_memory("vq", length=1).shape == MemoryShape("tokens", 1, 4)
    assert make_memory("raw", length=1).shape == MemoryShape("raw", 1)
    assert not NoMemory().values_at(np.ones((3, 13), np.float32), np.arange(3)).any()


@dataclass(frozen=True)
class Wrong(Memory):
    """A memory of a user whose value is not what it states."""

    given: Any
    vocabulary: int = 4
    length: int = 2

    def value(self, window):
        return self.given


@pytest.mark.parametrize(
    ("given", "vocabulary", "message"),
    [
        (7, 4, "value() returned 7; valid: an integer, 0 to 3"),
        (0.5, 4, "valid: an integer, 0 to 3"),
        ("a", 4, "valid: an integer, 0 to 3"),
        (np.zeros(2), 0, "valid: 13 finite numbers"),
        (np.full(13, np.nan), 0, "valid: 13 finite numbers"),
    ],
)
def test_a_value_of_another_kind_than_stated_is_refused(given, vocabulary, message):
    memory = Wrong(given, vocabulary)
    with pytest.raises(RuleSafeError, match=re.escape(message)):
        memory.values_at(np.zeros((3, 13)), np.arange(3))
    rolling = RollingMemory(memory)
    with pytest.raises(RuleSafeError, match=r"Wrong\.value"):
        rolling.push(np.zeros(13))
        rolling.read()
