"""What a reviewer needs first: which candidates are new, changed, gone, and in which fields."""

from discovery_payloads import ANATOMY, ATLAS, KERNELS, atlas, atlas_bytes, payload

from secondbrain.discovery.diff import diff_sets
from secondbrain.discovery.extract import extract


def rows_of(*read):
    return sorted((row for one in read for row in extract(one)), key=lambda row: row["id"])


def test_a_set_does_not_differ_from_itself():
    rows = rows_of(payload(ATLAS))
    diff = diff_sets(rows, rows)
    assert diff["counts"] == {"added": 0, "changed": 0, "removed": 0, "unchanged": 61}
    assert diff["base_candidate_set_sha256"] == diff["candidate_set_sha256"]
    assert (diff["added"], diff["changed"], diff["removed"]) == ([], [], [])


def test_changed_fields_are_named_by_source_and_kind():
    document = atlas()
    document["executable_formulas"][0]["proof_status"] = "PROVEN(something)"
    before = rows_of(payload(ATLAS), payload(ANATOMY))
    after = rows_of(payload(ATLAS, atlas_bytes(document)), payload(KERNELS))
    diff = diff_sets(before, after)
    assert diff["counts"] == {"added": 5, "changed": 1, "removed": 1, "unchanged": 60}
    (changed,) = diff["changed"]
    assert changed["title"] == "Executable formula · function_0"
    assert changed["fields"] == ["content", "content_sha256", "proof_status"]
    assert diff["by_kind"]["executable-formula"] == {"added": 0, "changed": 1, "removed": 0, "unchanged": 20}
    assert diff["by_repository"]["szl-holdings/anatomy"]["removed"] == 1
    assert diff["by_repository"]["szl-holdings/szl-kernels"]["added"] == 5
    assert {entry["kind"] for entry in diff["added"]} == {"source-document", "truth-card"}
    assert diff["revision_only"] == 0


def test_a_new_revision_of_the_same_bytes_changes_the_revision_alone():
    diff = diff_sets(rows_of(payload(ATLAS)), rows_of(payload(ATLAS, revision="2" * 40)))
    assert diff["counts"]["changed"] == diff["revision_only"] == 61
    assert {tuple(entry["fields"]) for entry in diff["changed"]} == {("source_revision",)}


def test_a_diff_holds_no_text():
    diff = diff_sets([], rows_of(payload(ATLAS)))
    assert "7 = 7" not in str(diff)
