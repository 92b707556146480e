"""Ids name things, not places: they are those of earlier published sets, and survive new revisions.

``data/frontier-published-ids.tsv``: the ids of the structured rows in the published sample of candidates,
with what they name, and the digest of their content there.
"""

import json

import pytest
from discovery_payloads import (
    ANATOMY,
    ATLAS,
    ESTATE,
    KERNELS,
    REPOSITORY_ROOT,
    payload,
    payloads,
    upstream_folder,
)

from secondbrain.discovery.extract import extract
from secondbrain.discovery.identity import candidate_id, ids_of

PUBLISHED = [
    line.split("\t")
    for line in (REPOSITORY_ROOT / "tests" / "data" / "frontier-published-ids.tsv").read_text().splitlines()
]


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda row: row[4])
def test_a_published_id_recomputes_from_its_stable_key(published):
    id_, repository, path, kind, key, _ = published
    assert candidate_id(repository, path, kind, key) == id_


def test_every_published_thing_is_in_the_committed_set_under_its_id():
    lines = (REPOSITORY_ROOT / "frontier" / "candidates.jsonl").read_text(encoding="utf-8").splitlines()
    ours = {row["id"]: row for row in map(json.loads, lines)}
    for id_, repository, path, kind, _, content_sha256 in PUBLISHED:
        row = ours[id_]
        assert (row["source_repository"], row["source_path"], row["source_kind"]) == (repository, path, kind)
        if kind in ("attributed-formula", "quant-domain", "estate-authority"):
            assert row["content_sha256"] == content_sha256, "unchanged at the source, so unchanged here"


def test_the_published_sample_recomputes(tmp_path):
    """Sections by their former key, which is not ours; one row is of a source that is read no more."""
    upstream = upstream_folder(tmp_path)
    lines = (upstream / "frontier-candidates.sample.jsonl").read_text(encoding="utf-8").splitlines()
    ours = set()
    for source_id in payloads():
        data = (upstream / "payloads" / f"{source_id}.payload").read_bytes()
        ours |= {row["id"] for row in extract(payload(source_id, data))}
    recomputed = {"by our keys": 0, "by the former key of sections": 0, "not": 0}
    for row in map(json.loads, lines):
        place = row["source_repository"], row["source_path"], row["source_kind"]
        heading = row["title"].split(" · ", 1)[-1]
        former = {candidate_id(*place, f"section:{number}:{heading}") for number in range(40)}
        if row["id"] in ours:
            recomputed["by our keys"] += 1
        elif row["source_kind"] == "source-document" and row["id"] in former:
            recomputed["by the former key of sections"] += 1
        else:
            recomputed["not"] += 1
            assert row["source_kind"] == "research-metadata"
    assert recomputed == {"by our keys": 18, "by the former key of sections": 20, "not": 1}


def test_every_row_says_enough_to_recompute_its_id():
    for source_id in payloads():
        for row in extract(payload(source_id)):
            assert row["id"] in ids_of(row)


def test_an_id_survives_a_new_revision_and_a_changed_content():
    before = extract(payload(ATLAS))
    after = extract(payload(ATLAS, revision="2" * 40))
    assert [row["id"] for row in before] == [row["id"] for row in after]
    assert {row["source_revision"] for row in after} == {"2" * 40}


@pytest.mark.parametrize("source_id", [ANATOMY, KERNELS])
def test_a_section_inserted_before_others_changes_no_id_of_theirs(source_id):
    data = payloads()[source_id]
    heading = data.index(b"# ")
    inserted = data[:heading] + b"# Inserted\n\nOther words.\n\n" + data[heading:]
    before = {row["id"] for row in extract(payload(source_id))}
    after = {row["id"] for row in extract(payload(source_id, inserted))}
    assert before < after
    assert len(after - before) == 1


def test_sections_of_one_name_are_told_apart_by_path_and_occurrence():
    readme = b"# A\n\n## Use\n\none\n\n## Use\n\ntwo\n\n# B\n\n## Use\n\nthree\n"
    rows = extract(payload(ANATOMY, readme))
    assert len({row["id"] for row in rows}) == len(rows) == 5


def test_a_row_of_an_unknown_kind_has_no_id():
    row = extract(payload(ESTATE))[0]
    assert ids_of({**row, "source_kind": "something-else"}) == set()
