"""Admission is strict, all or nothing, and names file, line and reason."""

import json
import tracemalloc
from pathlib import Path

import pytest
from conftest import row, write_projection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from secondbrain.digests import sha256_bytes, sha256_text
from secondbrain.errors import CorpusIntegrityError
from secondbrain.projection import admission
from secondbrain.projection.admission import Admission, admit, projection_line

GOOD = row("a", "One text.")


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "projection.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def refusal(folder: Path, content: str | bytes, **bounds: int) -> str:
    """The reason for which a file is refused; its message names the file first."""
    path = written(folder, content)
    with pytest.raises(CorpusIntegrityError) as refused:
        admit(path, **bounds)
    message = str(refused.value)
    assert message.startswith(str(path))
    return message.removeprefix(str(path)).lstrip(", :")


def line(**fields: object) -> str:
    return json.dumps({**GOOD, **fields}) + "\n"


# Rule 1


@pytest.mark.parametrize("marked", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_a_byte_order_mark_is_named_as_such(tmp_path: Path, marked: bytes) -> None:
    assert "line 1: the file starts with a byte order mark" in refusal(tmp_path, marked + line().encode())


def test_the_place_of_a_byte_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    assert (
        refusal(tmp_path, line().encode() + b'{"id": "\xe9"}\n') == "line 2: byte 9 of the line is not UTF-8"
    )


def test_a_file_may_be_as_large_as_its_bound_and_no_byte_larger(tmp_path: Path) -> None:
    size = len(line())
    assert admit(written(tmp_path, line()), max_bytes=size)[1].bytes == size
    assert "larger than" in refusal(tmp_path, line(), max_bytes=size - 1)


def test_a_file_may_have_as_many_rows_as_its_bound_and_no_row_more(tmp_path: Path) -> None:
    assert admit(written(tmp_path, line(id="a") + line(id="b")), max_rows=2)[1].rows == 2
    assert refusal(tmp_path, line(id="a") + line(id="b"), max_rows=1).startswith(
        "line 2: the file has more than 1"
    )


def test_a_line_beyond_every_bound_is_refused_before_it_is_held_whole(tmp_path: Path) -> None:
    assert "the line is longer than" in refusal(tmp_path, " " * 4_000_000 + line())


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusIntegrityError, match="cannot be read: No such file"):
        admit(tmp_path / "none.jsonl")
    with pytest.raises(CorpusIntegrityError, match="cannot be read: Is a directory"):
        admit(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that opens and can't be read")
def test_a_file_that_fails_while_it_is_read_is_named() -> None:
    with pytest.raises(CorpusIntegrityError, match="/proc/self/mem: cannot be read"):
        admit(Path("/proc/self/mem"))


# Rule 2


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\x1e"])
def test_a_line_ends_at_a_newline_and_at_no_other_separator(tmp_path: Path, separator: str) -> None:
    text = f"one{separator}two"
    row_line = json.dumps({**GOOD, "text": text, "sha256": sha256_text(text)}, ensure_ascii=separator < " ")
    rows, _ = admit(written(tmp_path, row_line + "\n"))
    assert rows[0].text == text


def test_carriage_return_and_newline_end_a_line_too(tmp_path: Path) -> None:
    content = (line(id="a") + line(id="b")).replace("\n", "\r\n")
    rows, admitted = admit(written(tmp_path, content))
    assert [one.id for one in rows] == ["a", "b"]
    assert admitted.generation_sha256 == sha256_bytes(content.encode())


def test_the_last_line_may_lack_its_end(tmp_path: Path) -> None:
    assert admit(written(tmp_path, line(id="a") + line(id="b").rstrip()))[1].rows == 2


@pytest.mark.parametrize("blank", ["\n", "\r\n", "  \t\n"])
def test_a_blank_line_is_refused(tmp_path: Path, blank: str) -> None:
    assert refusal(tmp_path, line() + blank) == "line 2: the line is blank"


# Rule 3


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[]\n", "a row is a JSON object"),
        ('"text"\n', "a row is a JSON object"),
        ("null\n", "a row is a JSON object"),
        ("{}{}\n", "not one JSON value: Extra data at column 3"),
        ('{"id": "a"\n', "not one JSON value"),
        ("{'id': 1}\n", "not one JSON value"),
        ('{"weight": NaN}\n', "NaN is no JSON"),
        ('{"weight": -Infinity}\n', "-Infinity is no JSON"),
        ('{"weight": ' + "9" * 5000 + "}\n", "a number is too long"),
        ("[" * 200_000 + "\n", "nested too deep"),
        ('{"a": 1, "b": 2, "a": 3}\n', "key 'a' stands twice"),
        ('{"a": 1, "\\u0061": 3}\n', "key 'a' stands twice"),
        ('{"id": {"a": 1, "a": 1}}\n', "key 'a' stands twice"),
    ],
)
def test_a_line_is_one_json_object(tmp_path: Path, content: str, reason: str) -> None:
    assert refusal(tmp_path, content).startswith(f"line 1: {reason}")


def test_many_keys_are_refused_in_no_more_than_their_length(tmp_path: Path) -> None:
    keys = ", ".join(f'"{number}": 0' for number in [*range(100_000), 99_999])
    assert refusal(tmp_path, "{" + keys + "}\n") == "line 1: key '99999' stands twice"


# Rule 4


@pytest.mark.parametrize("name", sorted(admission.REQUIRED))
def test_a_missing_key_is_named(tmp_path: Path, name: str) -> None:
    fields = {key: value for key, value in GOOD.items() if key != name}
    assert refusal(tmp_path, json.dumps(fields)) == f"line 1: missing {name}"


def test_an_unknown_key_is_named_and_a_long_one_cut(tmp_path: Path) -> None:
    assert refusal(tmp_path, line(weight="3")) == "line 1: unknown key 'weight': no digest binds it"
    assert len(refusal(tmp_path, line(**{"k" * 90_000: "3"}))) < 200


def test_the_optional_keys_are_kept(tmp_path: Path) -> None:
    rows, _ = admit(written(tmp_path, line(sourceId="s", derived_from="0" * 64)))
    assert (rows[0].source_id, rows[0].derived_from) == ("s", "0" * 64)


# Rules 5 and 6


@pytest.mark.parametrize("name", ["id", "source", "sourceId", "title", "text", "sha256", "derived_from"])
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (7, "is not text"),
        (None, "is not text"),
        (["a"], "is not text"),
        ("a\0b", "holds a NUL character"),
        ("\ud800", "holds a lone surrogate"),
    ],
)
def test_a_value_is_unicode_text_without_nul(tmp_path: Path, name: str, value: object, reason: str) -> None:
    assert refusal(tmp_path, line(**{name: value})).startswith(f"line 1: {name} {reason}")


@pytest.mark.parametrize("name", sorted(admission.CHARACTERS))
def test_a_value_may_be_as_long_as_its_bound_in_characters(tmp_path: Path, name: str) -> None:
    most = admission.CHARACTERS[name]
    for character in "a", "😀":
        longest = character * most
        fields = {name: longest} | ({"sha256": sha256_text(longest)} if name == "text" else {})
        admit(written(tmp_path, line(**fields)))
        assert f"line 1: {name} has {most + 1} characters" in refusal(
            tmp_path, line(**{name: longest + character})
        )


def test_the_widest_row_of_all_bounds_is_admitted(tmp_path: Path) -> None:
    """Every character escaped, in every field at once: the bound of a line leaves room for it."""
    widest = {name: "😀" * most for name, most in admission.CHARACTERS.items()}
    admit(written(tmp_path, line(**widest, sha256=sha256_text(widest["text"]), derived_from="0" * 64)))


@pytest.mark.parametrize("name", sorted(admission.CHARACTERS))
@pytest.mark.parametrize("blank", ["", "  ", "\u2003\n\t"])
def test_no_field_is_blank(tmp_path: Path, name: str, blank: str) -> None:
    assert refusal(tmp_path, line(**{name: blank})) == f"line 1: {name} is blank"


# Rules 7, 8 and 9


@pytest.mark.parametrize("name", ["sha256", "derived_from"])
@pytest.mark.parametrize("value", ["", "0" * 63, "A" * 64, "0" * 64 + "\n", "０" * 64])
def test_a_digest_has_its_one_form(tmp_path: Path, name: str, value: str) -> None:
    assert (
        refusal(tmp_path, line(**{name: value})) == f"line 1: {name} is not 64 lower-case hexadecimal digits"
    )


def test_the_digest_is_over_the_text_as_it_stands(tmp_path: Path) -> None:
    composed, decomposed = "é", "e\u0301"
    message = refusal(tmp_path, line(text=decomposed, sha256=sha256_text(composed)))
    assert message == "line 1: the digest of 'a' does not match its text"


def test_an_id_stands_once(tmp_path: Path) -> None:
    assert refusal(tmp_path, line(id="a") + line(id="b") + line(id="a")) == "line 3: id 'a' stands twice"


def test_ids_that_only_look_alike_are_two(tmp_path: Path) -> None:
    assert admit(written(tmp_path, line(id="é") + line(id="e\u0301") + line(id="E")))[1].rows == 3


def test_an_empty_file_is_no_projection(tmp_path: Path) -> None:
    assert "the projection is empty" in refusal(tmp_path, "")


# The pass as a whole


def test_the_result_is_known_at_the_end_only(tmp_path: Path) -> None:
    reading = Admission(written(tmp_path, line(id="a") + line(id="b")))
    rows = iter(reading)
    next(rows)
    with pytest.raises(RuntimeError, match="not read to its end"):
        _ = reading.result
    assert [one.id for one in rows] == ["b"]
    assert reading.result.rows == 2


def test_a_refused_file_never_has_a_result(tmp_path: Path) -> None:
    reading = Admission(written(tmp_path, line(id="a") + line(id="a")))
    with pytest.raises(CorpusIntegrityError):
        list(reading)
    with pytest.raises(RuntimeError):
        _ = reading.result


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=5, unique_by=lambda fields: fields[0]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_written_are_rows_read(tmp_path: Path, fields: list[tuple[str, str, str]]) -> None:
    rows = [row(f"id {a}", f"text {b}", title=f"title {c}", derived_from="0" * 64) for a, b, c in fields]
    path = write_projection(tmp_path / "rows.jsonl", rows)
    read, admitted = admit(path)
    assert [one.payload() for one in read] == rows
    assert "".join(map(projection_line, read)).encode() == path.read_bytes()
    assert admitted.generation_sha256 == sha256_bytes(path.read_bytes())


SEED = (line(id="a", derived_from="0" * 64) + line(id="b")).encode()
PIECES = [b"\n", b"\\ud800", b"\\u0000", b'"id":1,', b"{", b"1e999", b"-0"]
EDITS = st.tuples(
    st.integers(0, len(SEED)),
    st.integers(0, 6),
    st.one_of(
        st.binary(max_size=6),
        st.sampled_from(PIECES),
    ),
)


@given(st.lists(EDITS, min_size=1, max_size=4))
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_changed_bytes_are_admitted_or_refused_and_nothing_else(
    tmp_path: Path, edits: list[tuple[int, int, bytes]]
) -> None:
    changed = SEED
    for at, removed, added in edits:
        changed = changed[:at] + added + changed[at + removed :]
    try:
        rows, _ = admit(written(tmp_path, changed))
    except CorpusIntegrityError:
        return
    for one in rows:
        assert sha256_text(one.text) == one.sha256


def test_a_row_without_optional_fields_writes_none(tmp_path: Path) -> None:
    bare = {name: GOOD[name] for name in sorted(admission.REQUIRED)}
    [read], _ = admit(written(tmp_path, json.dumps(bare)))
    assert json.loads(projection_line(read)) == bare


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_arbitrary_bytes_are_refused(tmp_path: Path, content: bytes) -> None:
    refusal(tmp_path, content)


@pytest.mark.parametrize(
    ("check", "damage"),
    [
        ("_check_digests", line(sha256="0" * 64)),
        ("_check_text", line(title=" ")),
        ("_check_keys", line(weight="3")),
    ],
)
def test_each_check_is_what_refuses_its_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: str, damage: str
) -> None:
    refusal(tmp_path, damage)
    monkeypatch.setattr(Admission, check, lambda *_: None)
    assert admit(written(tmp_path, damage))[1].rows == 1


def test_memory_does_not_grow_with_the_texts(tmp_path: Path) -> None:
    """16 MB of texts take hardly more room than 20 KB of as many rows: a few texts at once."""
    peaks = []
    for name, size in ("short", 10), ("long", 8000):
        text = "x" * size
        path = write_projection(tmp_path / name, (row(f"{number}", text) for number in range(2000)))
        tracemalloc.start()
        assert sum(1 for _ in Admission(path)) == 2000
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 500_000
