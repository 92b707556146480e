"""The published projection of 575 rows loads as an operator's, verifies and answers. Its text is not ours."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from conftest import json_lines, shared

from secondbrain.digests import sha256_file, sha256_text
from secondbrain.hydration import AuthorizedHydrator
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.store import locate as located
from secondbrain.store.build import build
from secondbrain.store.locate import default_store
from secondbrain.store.verify import CHECKS, verify_file

GENERATION = "387337acbd8fe443637102fe7ea75387fa4c3d9d746d8ab6e2d14d6c138aad8f"
SOURCES = {"doc": 152, "formula": 269, "ingest": 143, "invariant": 11}


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("upstream")
    subprocess.run([sys.executable, shared("tools", "upstream.py"), folder], check=True, capture_output=True)
    return folder / "brain-corpus.public.jsonl"


@pytest.fixture
def configured(upstream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECOND_BRAIN_CORPUS", str(upstream))
    monkeypatch.setenv("SECOND_BRAIN_CORPUS_SHA256", GENERATION)
    monkeypatch.setenv("SECOND_BRAIN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(located, "_stores", {})


@pytest.mark.usefixtures("configured")
def test_it_loads_with_its_digest_and_counts() -> None:
    snapshot = default_store().snapshot()
    assert snapshot.generation_sha256 == GENERATION
    assert snapshot.chunk_count == 575
    assert snapshot.sources == SOURCES


@pytest.mark.usefixtures("configured")
def test_it_verifies() -> None:
    audit = verify_file(default_store().path)
    assert audit.findings == []
    assert audit.checked == [name for name, _ in CHECKS]


@pytest.mark.usefixtures("configured")
def test_it_answers_and_hydrates_to_the_published_rows(upstream: Path) -> None:
    rows = {row["id"]: row for row in json_lines(upstream)}
    context = HybridSecondBrain().context("locked formula authority", k=6)
    assert context["state"] == "GROUNDED_HANDLES_READY"
    assert context["generation_sha256"] == GENERATION
    assert context["corpus_n"] == 575
    for handle in context["handles"]:
        row = rows[handle["nodeId"]]
        assert (handle["sha256"], handle["source"]) == (row["sha256"], row["source"])
    hydrated = AuthorizedHydrator(lambda *_: True).hydrate(
        context["handles"], principal_id="principal-123", tenant_id="tenant-abc", policy_revision="a" * 40
    )
    assert hydrated["evidence_set_sha256"] == context["evidence_set_sha256"]
    assert [document["content"] for document in hydrated["documents"]] == [
        rows[handle["nodeId"]]["text"] for handle in context["handles"]
    ]


@pytest.mark.usefixtures("configured")
def test_every_row_is_stored_as_it_was_published(upstream: Path) -> None:
    stored = default_store().reader().rows("verify/rows")
    published = json_lines(upstream)
    assert [position for _, position, *_ in sorted(stored, key=lambda row: row[1])] == list(range(575))
    for _, position, node_id, source, source_id, title, text, sha256, derived_from in stored:
        row = published[position]
        assert (node_id, source, title, text, sha256) == tuple(
            row[key] for key in ("id", "source", "title", "text", "sha256")
        )
        assert (source_id, derived_from) == (row.get("sourceId"), row.get("derived_from"))
        assert sha256_text(text) == sha256


def test_two_builds_of_it_are_one_file(upstream: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    one, other = build(upstream, tmp_path / "1.db"), build(upstream, tmp_path / "elsewhere" / "2.db")
    assert one.file_sha256 == other.file_sha256 == sha256_file(one.path)
    assert one.generation_sha256 == GENERATION == sha256_file(upstream)


def test_its_rows_are_of_the_published_sources(upstream: Path) -> None:
    assert Counter(row["source"] for row in json_lines(upstream)) == SOURCES
