"""The alias file is read strictly, and each refusal says which entry and why."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from secondbrain.errors import CorpusIntegrityError
from secondbrain.projection.aliases import BUILT_IN, MAX_ALIASES, MAX_CHARACTERS, Alias, read_aliases


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "aliases.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def entry(term: str = "RRF", same_as: str = "rank fusion", reason: str = "its name", more: str = "") -> str:
    return f'[[alias]]\nterm = "{term}"\nsame_as = "{same_as}"\nreason = "{reason}"\n{more}\n'


def test_without_a_file_there_are_the_built_in_ones() -> None:
    assert read_aliases(None) == BUILT_IN == (Alias("Λ", "lambda", "the sign and its name"),)


def test_a_files_entries_follow_the_built_in_ones_in_order(tmp_path: Path) -> None:
    read = read_aliases(written(tmp_path, entry("B", "b b") + entry("A", "a a")))
    assert [alias.term for alias in read] == ["Λ", "B", "A"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "holds [[alias]] entries and nothing else"),
        ("[alias]\nterm = 'a'\n", "holds [[alias]] entries and nothing else"),
        (entry() + "[other]\n", "holds [[alias]] entries and nothing else"),
        ("alias = [1]\n", "alias 1: needs exactly term, same_as and reason"),
        (entry() + "[[alias]]\nterm = 'a'\n", "alias 2: needs exactly term, same_as and reason"),
        (entry(more="weight = 3"), "alias 1: needs exactly term, same_as and reason"),
        (entry(reason="  "), "alias 1: reason is no text of 1 to"),
        (entry(term="x" * (MAX_CHARACTERS + 1)), "alias 1: term is no text of 1 to"),
        ("[[alias]]\nterm = 1\nsame_as = 'a'\nreason = 'b'\n", "alias 1: term is no text"),
        (entry(term="a\\u0000"), "alias 1: term is no text"),
        (entry() + entry(), "alias 2: the pair stands already"),
        (entry("a", "b") + entry("B", "A"), "alias 2: the pair stands already"),
        (entry("LAMBDA", "λ"), "alias 1: the pair stands already"),
        (entry("Same", "same"), "alias 1: both spellings are the same"),
        (entry("∑", "sum"), "alias 1: a spelling holds no word"),
        ("alias = [", "no TOML"),
        (b"\xff", "no TOML"),
        ("a = " + "9" * 5000, "no TOML"),
        ("a = " + "[" * 5000, "no TOML"),
        (entry() * (MAX_ALIASES + 1), f"at most {MAX_ALIASES}"),
    ],
)
def test_a_file_is_refused_for(tmp_path: Path, content: str | bytes, reason: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(CorpusIntegrityError) as refused:
        read_aliases(path)
    assert str(refused.value).startswith(str(path))
    assert reason in str(refused.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in tmp_path, tmp_path / "none":
        with pytest.raises(CorpusIntegrityError, match="cannot be read"):
            read_aliases(path)


@given(
    st.one_of(st.binary(max_size=60), st.text(max_size=60).map(lambda text: f"[[alias]]\n{text}".encode()))
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_arbitrary_bytes_are_refused_and_nothing_else(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(CorpusIntegrityError):
        read_aliases(written(tmp_path, content))
