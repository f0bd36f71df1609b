"""Keys of program states: equal if and only if the states are indistinguishable; decoding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesafe_design.restricted import Refusal
from rulesafe_design.states import key_of, values_of

data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2) | st.integers() | st.booleans(), inner, max_size=3)
        | st.sets(st.integers() | st.text(max_size=2) | st.tuples(st.booleans()), max_size=4)
        | st.frozensets(st.integers() | st.text(max_size=2), max_size=4)
    ),
    max_leaves=12,
)


def typed(value):
    """Return a text with all types and values, and with the order of dicts."""
    if isinstance(value, dict):
        return f"dict({[(typed(k), typed(v)) for k, v in value.items()]})"
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__}({sorted(typed(x) for x in value)})"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({[typed(x) for x in value]})"
    return f"{type(value).__name__}({value!r})"


@given(one=data, other=data)
def test_keys_are_equal_if_and_only_if_states_are(one, other):
    same = typed(one) == typed(other)
    assert (key_of({"x": one}) == key_of({"x": other})) == same


@given(value=data)
def test_a_state_made_from_its_key_is_the_same_state(value):
    key = key_of({"x": value})
    again = values_of(key)["x"]
    assert typed(again) == typed(value) and key_of({"x": again}) == key
    assert hash(key) == hash(key_of({"x": again}))


def test_sharing_and_cycles_are_in_the_key():
    a, b = [1], [1]
    assert key_of({"x": [a, a]}) != key_of({"x": [a, b]}) == key_of({"x": [b, a]})
    assert key_of({"x": a, "y": a}) != key_of({"x": a, "y": b})
    a.append(a)
    x = values_of(key_of({"x": (a, {"k": a})}))["x"]
    assert x[0][1] is x[0] is x[1]["k"] and x[0] is not a


def test_order_of_a_set_depends_only_on_its_elements():
    one, other = {i * 8 for i in range(8)}, {i * 8 for i in reversed(range(8))}
    copies = [values_of(key_of({"x": value}))["x"] for value in (one, other)]
    assert list(one) != list(other) and list(copies[0]) == list(copies[1])


@pytest.mark.parametrize("pair", [(1, True), (0, False), (1, 1.0), (0.0, -0.0), ("1", 1), ([], ())])
def test_equal_values_of_different_types_have_different_keys(pair):
    assert key_of({"x": pair[0]}) != key_of({"x": pair[1]})


def test_other_values_have_no_key():
    with pytest.raises(Refusal, match=r"self\.x contains a object"):
        key_of({"x": object()})


def test_large_numbers_in_a_set_are_kept():
    values = {"x": {10**5000, 1, "a", 2.5}}
    assert values_of(key_of(values)) == values
    with pytest.raises(Refusal, match="a tuple with too large an int"):
        key_of({"x": {(10**5000,), (1,)}})
