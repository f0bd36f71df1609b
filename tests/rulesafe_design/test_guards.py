"""The guard functions called directly, as by a rewritten program: every type, every attribute."""

import builtins
import operator

import pytest

from rulesafe_design import guards
from rulesafe_design.guards import BUILTINS, DATA, METHODS, Forbidden, Provided, namespace


@pytest.fixture(autouse=True)
def attempts(monkeypatch):
    """The attempts of this test, which a process stores."""
    monkeypatch.setattr(Forbidden, "attempts", [])
    return Forbidden.attempts


class Notes(Provided):
    """A provided object whose attributes are the items of a dict."""

    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items = {"x": 1}

    def read(self, name):
        if name not in self.items:
            raise AttributeError(name)
        return self.items[name]

    def write(self, name, value):
        self.items[name] = value

    def remove(self, name):
        del self.items[name]


VALUES = {
    **{str: "a", list: [1], dict: {1: 2}, set: {1}, frozenset: frozenset({1}), tuple: (1, 2)},
    **{int: 5, bool: True, float: 0.5},
}


@pytest.mark.parametrize("kind", METHODS)
def test_a_type_has_the_listed_attributes_and_no_other(kind, attempts):
    value = VALUES[kind]
    for name in METHODS[kind]:
        assert guards.read_attribute(value, name) == getattr(value, name)
    refused = set(dir(kind)) - METHODS[kind]
    for name in refused:
        with pytest.raises(Forbidden, match=f"{name} is not available for values of type"):
            guards.read_attribute(value, name)
    assert len(attempts) == len(refused)
    with pytest.raises(AttributeError) as caught:
        guards.read_attribute(value, "nothing")
    assert type(caught.value) is AttributeError and len(attempts) == len(refused)
    with pytest.raises(
        AttributeError, match=f"valid: {', '.join(sorted(METHODS[kind])) or 'none'}"
    ):
        guards.read_attribute(value, "nothing")
    assert {"format", "format_map", "encode", "__class__"} & METHODS[str] == set()


class Text(str):
    pass


class Array(list):
    pass


@pytest.mark.parametrize(
    "value", [Text("a"), Array(), len, type, str, print, iter([]), range(3), Notes, object()]
)
def test_other_types_have_no_attribute_that_can_be_read(value):
    for name in ("upper", "append", "__class__", "nothing", "start"):
        with pytest.raises(Forbidden, match="valid: none"):
            guards.read_attribute(value, name)


def test_none_has_no_attributes_but_is_ordinary_data():
    with pytest.raises(AttributeError) as caught:
        guards.read_attribute(None, "x")
    assert type(caught.value) is AttributeError
    with pytest.raises(Forbidden):
        guards.read_attribute(None, "__class__")
    assert type(None) in DATA and set(METHODS) < set(DATA)


def test_items_are_read_and_written_only_in_ordinary_collections():
    for value, key in (("ab", 1), ([1, 2], 1), ((1, 2), 0), ({1: 2}, 1), (range(5), 3)):
        assert guards.read_item(value, key) == value[key]
    for value in ([1], {1: 2}):
        assert guards.writable(value) is value
    for value in ({1}, 1, None, True, 0.5, frozenset()):
        with pytest.raises(TypeError, match="cannot be indexed"):
            guards.read_item(value, 0)
    for value in ({1}, 1, None, (1, 2), "ab"):
        with pytest.raises(TypeError, match="cannot be modified"):
            guards.writable(value)
    for value in (Array([1]), Text("a"), list, len, iter([]), Notes()):
        with pytest.raises(Forbidden, match="cannot be indexed"):
            guards.read_item(value, 0)
    for value in (Array([1]), range(3), list, len):
        with pytest.raises(Forbidden, match="cannot be modified"):
            guards.writable(value)


SIGNS = {
    **{"+=": operator.add, "-=": operator.sub, "*=": operator.mul, "/=": operator.truediv},
    **{"%=": operator.mod, "**=": operator.pow, "//=": operator.floordiv, "<<=": operator.lshift},
    **{">>=": operator.rshift, "|=": operator.or_, "^=": operator.xor, "&=": operator.and_},
}


def test_augmented_assignments_are_those_of_python():
    assert set(SIGNS) == set(guards.IN_PLACE)
    for sign, function in SIGNS.items():
        assert guards.in_place(sign, 13, 3) == function(13, 3)
    changed = [1]
    assert guards.in_place("+=", changed, [2]) is changed and changed == [1, 2]
    with pytest.raises(Forbidden, match="@= is not allowed"):
        guards.in_place("@=", 1, 2)


def test_provided_objects_decide_themselves():
    notes = Notes()
    assert guards.read_attribute(notes, "x") == 1
    target = guards.writable(notes)
    target.y = 2
    assert notes.items == {"x": 1, "y": 2}
    del target.x
    assert notes.items == {"y": 2}
    for use in (Provided().read, Provided().remove):
        with pytest.raises(Forbidden, match="the attribute x "):
            use("x")
    with pytest.raises(Forbidden, match="the attribute x cannot be set"):
        Provided().write("x", 1)


def test_attributes_by_name():
    notes = Notes()
    get, has, put, drop = (BUILTINS[f"{name}attr"] for name in ("get", "has", "set", "del"))
    assert (get(notes, "x"), get(notes, "y", None), get(notes, "y", 3)) == (1, None, 3)
    assert has(notes, "x") is True and has(notes, "y") is False
    put(notes, "_y", 5)
    assert get(notes, "_y") == 5
    drop(notes, "_y")
    with pytest.raises(AttributeError) as caught:
        get(notes, "_y")
    assert type(caught.value) is AttributeError
    for name in ("__class__", "__x", "a b", "", "1", 1, None, Text("x")):
        for use in (lambda n: get(notes, n, 0), lambda n: has(notes, n), lambda n: drop(notes, n)):
            with pytest.raises(Forbidden, match="not a valid attribute name"):
                use(name)
        with pytest.raises(Forbidden, match="not a valid attribute name"):
            put(notes, name, 1)
    for value in ("a", [], len, None):
        for use in (lambda v: get(v, "x", 0), lambda v: has(v, "x"), lambda v: drop(v, "x")):
            with pytest.raises(Forbidden, match="is only allowed on self"):
                use(value)
        with pytest.raises(Forbidden, match="setattr is only allowed on self"):
            put(value, "x", 1)


def test_an_attempt_that_was_caught_is_raised_at_the_end(attempts):
    guards.raise_first_attempt()
    for name in ("first", "second"):
        with pytest.raises(Forbidden):
            Provided().read(name)
    assert len(attempts) == 2
    with pytest.raises(Forbidden, match="first"):
        guards.raise_first_attempt()


def test_the_names_of_a_program():
    names = namespace({"self": 1})
    assert names["self"] == 1 and names["__builtins__"] is BUILTINS
    assert {key for key in names if key.startswith("_")} == {
        *("__builtins__", "__name__", "_getattr_", "_getitem_", "_getiter_", "_write_"),
        *("_inplacevar_", "_apply_", "_unpack_sequence_", "_iter_unpack_sequence_"),
    }
    for name in ("open", "eval", "exec", "compile", "type", "object", "vars", "super", "input"):
        assert name not in BUILTINS and hasattr(builtins, name)
    assert not any(name.startswith("_") for name in BUILTINS)
    assert BUILTINS["print"]("a", sep="", end="", flush=True) is None
    assert names["_apply_"](dict, [("a", 1)], b=2) == {"a": 1, "b": 2}
