import numpy as np
import pytest

from policy_node.memories import MEMORIES, MemoryShape, Vq, make_memory, memory_from
from rulesafe_core.errors import RuleSafeError
from vq_memory_node.memory import memory_of

SHAPES = {
    "none": MemoryShape("none", 0, 0),
    "raw": MemoryShape("raw", 6, 0),
    "vq": MemoryShape("tokens", 6, 4),
    "fsq": MemoryShape("tokens", 6, 4),
}


@pytest.mark.parametrize("kind", MEMORIES)
def test_a_memory_comes_back_from_its_description(kind, memories):
    described = memories[kind].describe()
    assert memory_from(described) == memories[kind]
    assert ("hash" in described) == (kind in ("vq", "fsq"))


@pytest.mark.parametrize("kind", MEMORIES)
def test_the_shape_is_that_of_the_readings(kind, memories):
    config = memories[kind]
    assert config.shape == SHAPES[kind]
    path = np.cumsum(np.full((80, 13), 0.01, np.float32), axis=0)
    readings = memory_of(path, config.build())
    assert readings.mask.shape == (80, config.shape.length)
    assert readings.values.shape == (80, config.length, *((13,) if kind == "raw" else ()))
    if config.vocabulary:
        assert readings.values.max() < config.vocabulary


def test_another_tokenizer_under_the_same_name_is_refused(memories):
    described = memories["vq"].describe() | {"hash": "0" * 64}
    with pytest.raises(RuleSafeError, match="another memory model than rule_001_rule_020_hand"):
        memory_from(described)


def test_another_number_of_tokens_than_the_model_offers_is_refused():
    with pytest.raises(RuleSafeError, match="5"):
        Vq(clusters=5).describe()


def test_a_model_of_the_other_kind_is_refused(fsq_model):
    with pytest.raises(RuleSafeError, match="of the kind fsq, not vq"):
        Vq(str(fsq_model)).build()


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        ("frames", {}, "valid: none, raw, vq, fsq"),
        ("none", {"length": 20}, "has no setting 'length'; it has: none"),
        ("raw", {"clusters": 4}, "has no setting 'clusters'; it has: length"),
        ("fsq", {}, "needs a model"),
        ("raw", {"length": 0}, "must be 1 or more"),
    ],
)
def test_what_makes_no_memory_is_refused(kind, settings, words):
    with pytest.raises(RuleSafeError, match=words):
        make_memory(kind, **settings)


def test_settings_that_are_none_take_the_default():
    assert make_memory("vq", model=None, clusters=2, length=None) == Vq(clusters=2)
