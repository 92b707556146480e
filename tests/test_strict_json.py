"""JSON without surprises: what Python's reader lets through is refused by name."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from secondbrain.strict_json import NotStrict, parse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_json_can_hold_comes_back_as_it_was(value: object) -> None:
    assert parse(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("source", "reason", "key"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "key 'c' stands twice", "c"),
        ('{"a": 1, "\\u0061": 2}', "key 'a' stands twice", "a"),
        ("NaN", "NaN is no JSON", None),
        ("[-Infinity]", "-Infinity is no JSON", None),
        ("1e999", "a number is too large", None),
        ("9" * 5000, "a number is too long", None),
        ("[" * 100_000, "nested too deep", None),
        ("{} {}", "not one JSON value: Extra data at column 4", None),
        ("", "not one JSON value: Expecting value at column 1", None),
    ],
)
def test_what_is_not_strict_is_refused_with_its_reason(source: str, reason: str, key: str | None) -> None:
    with pytest.raises(NotStrict) as refused:
        parse(source)
    assert str(refused.value) == reason
    assert refused.value.key == key


def test_a_long_key_is_shortened_in_the_reason() -> None:
    name = "k" * 10_000
    with pytest.raises(NotStrict) as refused:
        parse(f'{{"{name}": 1, "{name}": 2}}')
    assert len(str(refused.value)) < 100
    assert refused.value.key == name
