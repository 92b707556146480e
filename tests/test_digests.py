"""Canonical JSON and the digests over it are what other programs compute."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from secondbrain.digests import (
    canonical_json,
    canonical_lines_sha256,
    canonical_sha256,
    is_git_revision,
    is_pinned_revision,
    is_sha256,
    is_unicode,
    sha256_bytes,
    sha256_file,
    sha256_text,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_canonical_json_is_sorted_without_blanks_and_not_escaped() -> None:
    assert (
        canonical_json({"b": [1, 2.5, None], "a": {"Λ": "ü\u2028"}})
        == '{"a":{"Λ":"ü\u2028"},"b":[1,2.5,null]}'
    )


@given(VALUES)
def test_canonical_json_is_json_of_the_same_value(value: object) -> None:
    assert json.loads(canonical_json(value)) == value


@given(st.dictionaries(st.text(), st.integers(), max_size=5))
def test_the_order_of_keys_changes_no_digest(value: dict[str, int]) -> None:
    turned = dict(reversed(value.items()))
    assert canonical_json(turned) == canonical_json(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_what_is_no_json_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        canonical_json(value)


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", {("a",): 1}])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        canonical_json(value)


def test_digests_are_over_utf8_bytes(tmp_path: Path) -> None:
    expected = hashlib.sha256("Λ".encode()).hexdigest()
    (tmp_path / "file").write_bytes("Λ".encode())
    assert sha256_text("Λ") == sha256_bytes("Λ".encode()) == sha256_file(tmp_path / "file") == expected
    assert canonical_sha256("Λ") == hashlib.sha256('"Λ"'.encode()).hexdigest()


def test_lines_are_digested_each_with_its_newline_in_the_order_given() -> None:
    expected = hashlib.sha256(b'{"a":1}\n{"a":2}\n').hexdigest()
    assert canonical_lines_sha256([{"a": 1}, {"a": 2}]) == expected
    assert canonical_lines_sha256([{"a": 2}, {"a": 1}]) != expected
    assert canonical_lines_sha256([]) == hashlib.sha256(b"").hexdigest()


@given(st.text(st.characters(exclude_categories=[])))
def test_a_text_is_unicode_where_utf8_can_write_it(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        assert not is_unicode(text)
    else:
        assert is_unicode(text)


def test_a_lone_surrogate_has_no_digest() -> None:
    with pytest.raises(UnicodeEncodeError):
        sha256_text("\ud800")


@pytest.mark.parametrize(
    ("value", "is_digest", "is_revision", "is_pin"),
    [
        ("a" * 64, True, False, False),
        ("a" * 40, False, True, True),
        ("sha256:" + "a" * 64, False, False, True),
        ("a" * 64 + "\n", False, False, False),
        ("a" * 40 + "\n", False, False, False),
        ("A" * 40, False, False, False),
        ("０" * 40, False, False, False),
        ("sha256:" + "a" * 40, False, False, False),
        ("main", False, False, False),
        ("", False, False, False),
        (None, False, False, False),
        (7, False, False, False),
        (b"a" * 40, False, False, False),
    ],
)
def test_a_digest_and_a_pinned_revision_have_one_form(
    value: object, is_digest: bool, is_revision: bool, is_pin: bool
) -> None:
    assert (is_sha256(value), is_git_revision(value), is_pinned_revision(value)) == (
        is_digest,
        is_revision,
        is_pin,
    )
