"""The packaged corpus keeps its rules: this guard needs nothing but the checkout."""

import json
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import apsw
import pytest
from conftest import ROOT, json_lines, shared

from secondbrain.errors import CorpusIntegrityError
from secondbrain.projection.admission import Row, admit, projection_line
from secondbrain.projection.aliases import BUILT_IN, read_aliases
from secondbrain.projection.documents import harvest
from secondbrain.projection.manifest import manifest_of, manifest_text
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.store.build import build
from secondbrain.store.opened import Store
from secondbrain.text import TOKENIZER, prepared, units, words

CORPUS = ROOT / "corpus"
MANIFEST = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))

WORDS = {"doc": (50, 140), "ingest": (40, 100), "invariant": (40, 90), "formula": (15, 60)}
"""The guide of lengths, in words."""
TOLERANCE = 0.15
LOCKED_PROVEN = "F1 F4 F7 F11 F12 F18 F19 F22"
# Registries are named in words: their host names would send a reader's tools there.
REGISTRIES = (
    "anaconda archlinux artifacthub crates debian docker f-droid flathub ghcr golang jsr maven metacpan "
    "npmjs nuget open-vsx packagist pkg pub pypi pythonhosted quay r-pkg r-project rubygems snapcraft "
    "sonatype terraform"
)
REGISTRY_HOST = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, REGISTRIES.split()))})\.(?:org|com|io|dev|net)\b", re.IGNORECASE
)
LATEX = re.compile(r"\\|\$[^$ ]+\$")


@cache
def rows() -> list[Row]:
    return harvest(CORPUS).rows


@cache
def upstream(folder: Path) -> dict[str, dict[str, str]]:
    """The published rows by id, where the shared material is there."""
    tool = shared("tools", "upstream.py")
    subprocess.run([sys.executable, str(tool), str(folder)], check=True, capture_output=True)
    return {str(row["id"]): row for row in json_lines(folder / "brain-corpus.public.jsonl")}  # type: ignore[misc]


@pytest.fixture(scope="module")
def projection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "projection.jsonl"
    path.write_text("".join(map(projection_line, rows())), encoding="utf-8", newline="\n")
    return path


@pytest.fixture(scope="module")
def store(projection: Path) -> Store:
    built = build(projection, projection.parent / "store.db", aliases=CORPUS / "aliases.toml")
    return Store(built.path)


# What is there


def test_there_are_575_rows_of_four_sources() -> None:
    assert Counter(row.source for row in rows()) == {
        "formula": 269,
        "doc": 152,
        "ingest": 143,
        "invariant": 11,
    }


def test_ids_and_titles_stand_once() -> None:
    assert len({row.id for row in rows()}) == 575
    assert len({row.title.casefold() for row in rows()}) == 575


def test_every_row_says_what_it_restates() -> None:
    assert all(row.derived_from for row in rows())
    assert all(row.source_id for row in rows())
    assert [row.id for row in rows() if row.derived_from == row.sha256] == []


def test_every_document_makes_rows_and_every_heading_a_row() -> None:
    found = harvest(CORPUS)
    assert found.notes == []
    assert found.documents == len(list(CORPUS.rglob("*.md"))) - 1  # the README


def test_the_readme_is_no_row() -> None:
    assert (CORPUS / "README.md").read_text(encoding="utf-8").startswith("---\nprojection: false\n---\n")
    assert not any(row.id.startswith("README") for row in rows())


def test_file_names_are_slugs() -> None:
    for path in CORPUS.rglob("*.md"):
        assert path.name == "README.md" or re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*\.md", path.name), path


# How it is written


def test_lengths_keep_to_the_guide() -> None:
    """Longer than the guide is nothing; shorter only some, whose published rows are short themselves."""
    shorter = []
    for row in rows():
        least, most = WORDS[row.source]
        count = len(row.text.split())
        assert count <= most * (1 + TOLERANCE), row.id
        if count < least * (1 - TOLERANCE):
            shorter.append(row)
    assert {row.source for row in shorter} <= {"doc"}
    assert len(shorter) <= 15


def test_titles_are_short() -> None:
    assert max(len(row.title) for row in rows()) <= 120


def test_mathematics_is_plain_text() -> None:
    assert [row.id for row in rows() if LATEX.search(row.title + row.text)] == []


def test_no_registry_is_named_by_its_host() -> None:
    for path in CORPUS.rglob("*"):
        if path.is_file():
            assert not REGISTRY_HOST.search(path.read_text(encoding="utf-8")), path


def test_no_opening_of_five_words_stands_more_than_a_dozen_times() -> None:
    openings = Counter(" ".join(re.findall(r"\w+", row.text.lower())[:5]) for row in rows())
    assert openings.most_common(1)[0][1] <= 12


def test_no_two_texts_are_nearly_the_same() -> None:
    """A template filled in many times would show: no two chunks share more than half their word triples."""
    shingles = []
    for row in rows():
        found = re.findall(r"\w+", row.text.lower())
        shingles.append((row.id, set(zip(found, found[1:], found[2:], strict=False))))
    for at, (one, mine) in enumerate(shingles):
        for other, theirs in shingles[at + 1 :]:
            assert 2 * len(mine & theirs) <= min(len(mine), len(theirs)), (one, other)


def test_the_locked_set_is_named_whole_or_not_at_all() -> None:
    lists = [
        (row.id, set(re.findall(r"F\d+", listed)))
        for row in rows()
        for listed in re.findall(r"\bF\d+(?:[, `]+(?:and )?F\d+){5,}", row.text)
    ]
    assert lists
    for node_id, listed in lists:
        assert listed == set(LOCKED_PROVEN.split()), node_id


def test_lambda_uniqueness_is_nowhere_proven() -> None:
    proven = re.compile(
        r"(Λ|lambda)[- ]uniqueness (is|was|has been) (now )?(proven|proved|locked)", re.IGNORECASE
    )
    assert [row.id for row in rows() if proven.search(row.text)] == []


@pytest.mark.parametrize(
    "broken", ["pypi" + ".org", "https://registry.npmjs" + ".org/x", "hub.docker" + ".com"]
)
def test_the_guard_knows_a_host(broken: str) -> None:
    assert REGISTRY_HOST.search(broken)


@pytest.mark.parametrize("broken", [r"\frac{a}{b}", r"\(x\)", "$x_1$"])
def test_the_guard_knows_latex(broken: str) -> None:
    assert LATEX.search(broken)


# The manifest


def test_a_fresh_harvest_gives_the_manifest() -> None:
    assert (CORPUS / "manifest.json").read_text(encoding="utf-8") == manifest_text(CORPUS)


def test_the_manifest_is_what_the_projection_and_its_store_are_known_by(
    projection: Path, store: Store
) -> None:
    admitted = admit(projection)[1]
    snapshot = store.snapshot()
    assert MANIFEST["generation_sha256"] == admitted.generation_sha256 == snapshot.generation_sha256
    assert MANIFEST["rows"] == admitted.rows == snapshot.chunk_count == 575
    assert MANIFEST["sources"] == snapshot.sources
    assert MANIFEST["aliases_sha256"] == snapshot.aliases_sha256


def test_another_text_gives_another_manifest(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\none\n")
    (tmp_path / "aliases.toml").write_text('[[alias]]\nterm = "a"\nsame_as = "b"\nreason = "c"\n')
    first = manifest_of(tmp_path)
    (tmp_path / "a.md").write_text("# A\n\ntwo\n")
    second = manifest_of(tmp_path)
    assert first["generation_sha256"] != second["generation_sha256"]
    assert first["aliases_sha256"] == second["aliases_sha256"]
    (tmp_path / "aliases.toml").write_text("")
    with pytest.raises(CorpusIntegrityError):
        manifest_of(tmp_path)


def test_the_script_says_whether_the_manifest_is_current() -> None:
    script = ROOT / "scripts" / "manifest"
    assert subprocess.run([sys.executable, script, "--check"], capture_output=True).returncode == 0
    assert subprocess.run([sys.executable, script, "--other"], capture_output=True).returncode == 2


# The aliases

_TOKENIZER = apsw.Connection(":memory:").fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
ASKED_ONLY = {"Dead Simple Signing Envelope"}
"""What readers ask for though the corpus writes the other spelling alone."""


def tokens(text: str) -> list[str]:
    return list(
        _TOKENIZER(
            text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
        )
    )


def test_each_spelling_of_each_alias_occurs_in_the_corpus() -> None:
    texts = [f" {' '.join(tokens(prepared(row.title) + ' ' + prepared(row.text)))} " for row in rows()]
    missing = set()
    for alias in read_aliases(CORPUS / "aliases.toml"):
        for spelling in alias.term, alias.same_as:
            found = [unit.text for first, end in words(spelling) for unit in units(spelling[first:end])]
            phrase = f" {' '.join(token for unit in found for token in tokens(unit))} "
            if not any(phrase in text for text in texts):
                missing.add(spelling)
    assert missing == ASKED_ONLY


def test_the_built_in_aliases_are_not_repeated() -> None:
    own = read_aliases(CORPUS / "aliases.toml")[len(BUILT_IN) :]
    assert not {"Λ", "λ", "lambda"} & {spelling.casefold() for alias in own for spelling in alias[:2]}


@pytest.mark.parametrize(
    "alias", read_aliases(CORPUS / "aliases.toml"), ids=lambda alias: f"{alias.term} is {alias.same_as}"
)
def test_a_query_for_one_spelling_asks_for_the_other(store: Store, alias: tuple[str, str, str]) -> None:
    brain = HybridSecondBrain(store)
    found = [
        {handle["nodeId"] for handle in brain.context(spelling, k=12, sources=None)["handles"]}
        for spelling in alias[:2]
    ]
    assert found[0] & found[1]


# Against the published rows, where they are there


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    return upstream(tmp_path_factory.mktemp("upstream"))


def test_ids_sources_and_digests_are_those_of_the_published_rows(
    published: dict[str, dict[str, str]],
) -> None:
    assert len(published) == 575
    for row in rows():
        theirs = published[row.id]
        assert (row.source, row.source_id, row.derived_from) == (
            theirs["source"],
            theirs["sourceId"],
            theirs["sha256"],
        )


def test_a_short_chunk_restates_a_short_row(published: dict[str, dict[str, str]]) -> None:
    for row in rows():
        least = min(WORDS[row.source][0], len(published[row.id]["text"].split()))
        assert len(row.text.split()) >= least * (1 - TOLERANCE), row.id


def test_no_wording_is_repeated(published: dict[str, dict[str, str]], projection: Path) -> None:
    theirs = projection.parent / "published.jsonl"
    theirs.write_text("".join(json.dumps(row) + "\n" for row in published.values()), encoding="utf-8")
    tool = shared("tools", "overlap.py")
    result = subprocess.run(
        [sys.executable, str(tool), str(projection), str(theirs)], capture_output=True, text=True
    )
    assert (result.returncode, result.stdout) == (0, ""), result.stdout[:2000]
