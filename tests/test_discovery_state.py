"""The set on disk: every claim is checked when it is read, and two files are written as one."""

import json
import subprocess
import sys

import pytest
from discovery_payloads import ATLAS, REPOSITORY_ROOT, payload, payloads

from secondbrain.digests import canonical_json, canonical_lines_sha256, canonical_sha256, sha256_text
from secondbrain.discovery.extract import extract
from secondbrain.discovery.state import make_state, read_set, state_bytes, write_set
from secondbrain.errors import FrontierIntegrityError
from secondbrain.wire import FrontierCandidate, FrontierState


def a_set(revision="1" * 40):
    """Return the rows and the state of the seven small payloads."""
    read = [payload(source_id, revision=revision) for source_id in payloads()]
    rows = sorted((row for one in read for row in extract(one)), key=lambda row: row["id"])
    return rows, make_state(rows, read)


def write_raw(folder, rows, state):
    """Write rows and a state as they are, whatever they say."""
    folder.mkdir(exist_ok=True)
    lines = "".join(row if isinstance(row, str) else canonical_json(row) + "\n" for row in rows)
    (folder / "candidates.jsonl").write_text(lines, encoding="utf-8")
    (folder / "state.json").write_bytes(state if isinstance(state, bytes) else state_bytes(state))


def signed(state, changes):
    """Return a state with changes, its own digest made anew."""
    rest = {key: value for key, value in {**state, **changes}.items() if key != "state_sha256"}
    return {**rest, "state_sha256": canonical_sha256(rest)}


def test_what_is_written_is_read_back(tmp_path):
    rows, state = a_set()
    assert write_set(tmp_path / "new", rows, state)
    assert read_set(tmp_path / "new") == (rows, state)
    assert not write_set(tmp_path / "new", rows, state)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["candidates.jsonl", "state.json"]


def test_rows_and_state_have_the_keys_of_their_types():
    rows, state = a_set()
    optional = {"quant_domain", "proof_status", "reported_status"}
    for row in rows:
        assert row.keys() - optional == FrontierCandidate.__annotations__.keys() - optional
    assert state.keys() == FrontierState.__annotations__.keys()


def test_the_digests_are_over_canonical_lines_and_the_canonical_state(tmp_path):
    rows, state = a_set()
    write_set(tmp_path, rows, state)
    assert state["candidate_set_sha256"] == sha256_text(
        (tmp_path / "candidates.jsonl").read_text(encoding="utf-8")
    )
    assert state["candidate_set_sha256"] == canonical_lines_sha256(rows)
    assert state["state_sha256"] == signed(state, {})["state_sha256"]


ROW_CHANGES = {
    "content": "other",
    "content_sha256": "0" * 64,
    "id": "frontier:" + "0" * 32,
    "title": "Attributed formula · another",
    "schema": "szl.second-brain.frontier-candidate/v2",
    "content_access": "PUBLIC",
    "candidate_state": "ADMITTED",
    "admission": "",
    "source_kind": "executable-formula",
    "source_repository": "someone/else",
    "source_revision": "main",
    "source_path": "other.json",
    "quant_domain": "",
    "reported_status": "x\ny",
    "proof_status": "PROVEN",
    "locked_proven": True,
}


@pytest.mark.parametrize("field", ROW_CHANGES)
def test_a_changed_field_of_a_row_is_refused_by_file_and_line(tmp_path, field):
    rows, state = a_set()
    number = next(n for n, row in enumerate(rows) if row["source_kind"] == "attributed-formula")
    rows[number] = {**rows[number], field: ROW_CHANGES[field]}
    write_raw(tmp_path, rows, signed(state, {"candidate_set_sha256": canonical_lines_sha256(rows)}))
    with pytest.raises(FrontierIntegrityError, match=rf"candidates\.jsonl:{number + 1}: "):
        read_set(tmp_path)


@pytest.mark.parametrize("field", ["reported_status", "quant_domain", "content", "source_kind"])
def test_a_missing_field_of_a_row_is_refused(tmp_path, field):
    rows, state = a_set()
    number = next(n for n, row in enumerate(rows) if row["source_kind"] == "attributed-formula")
    del rows[number][field]
    write_raw(tmp_path, rows, state)
    with pytest.raises(FrontierIntegrityError, match=rf"candidates\.jsonl:{number + 1}: "):
        read_set(tmp_path)


def test_an_attributed_row_must_say_that_its_membership_is_unknown(tmp_path):
    rows, state = a_set()
    number = next(n for n, row in enumerate(rows) if row["source_kind"] == "attributed-formula")
    content = rows[number]["content"].rsplit("\n", 1)[0] + "\nLocked-proof membership: LOCKED"
    rows[number] = {**rows[number], "content": content, "content_sha256": sha256_text(content)}
    write_raw(tmp_path, rows, state)
    with pytest.raises(FrontierIntegrityError, match="membership is unknown"):
        read_set(tmp_path)


def test_rows_out_of_order_twice_or_uncanonical_are_refused(tmp_path):
    rows, state = a_set()
    for spoiled, said in (
        ([rows[1], rows[0], *rows[2:]], "ids do not rise"),
        ([rows[0], *rows], "ids do not rise"),
        ([json.dumps(rows[0], sort_keys=True) + "\n", *rows[1:]], "not canonical"),
        ([*rows[:-1], canonical_json(rows[-1])], "cut off"),
        (["[]\n", *rows], "expected an object"),
        (["\n", *rows], "not UTF-8 JSON"),
        ([], "expected 0|expected {}"),
        (rows[1:], "expected"),
    ):
        write_raw(tmp_path, spoiled, state)
        with pytest.raises(FrontierIntegrityError, match=said):
            read_set(tmp_path)


STATE_CHANGES = {
    "schema": "other",
    "state": "ADMITTED",
    "candidate_count": 1,
    "candidate_set_sha256": "0" * 64,
    "source_kind_counts": {},
    "quant_domain_counts": {},
    "lambda": "THEOREM",
    "learning_definition": "It learns.",
    "public_content_access": "EVERYTHING",
    "controller_content_access": "ANYONE",
    "private_graph_nodes_loaded": 9464,
    "raw_graph_nodes_admitted_to_gradients": False,
    "training_authority": "SOME",
    "promotion_authority": "SOME",
    "execution_authority": "SOME",
    "merge_authority": "SOME",
    "source_count": 8,
    "sources": [],
    "extra": 1,
}


@pytest.mark.parametrize("key", STATE_CHANGES)
def test_a_state_that_claims_anything_else_is_refused(tmp_path, key):
    rows, state = a_set()
    write_raw(tmp_path, rows, signed(state, {key: STATE_CHANGES[key]}))
    with pytest.raises(FrontierIntegrityError, match=r"state\.json"):
        read_set(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("source_id", "another"),
        ("repository", "someone/else"),
        ("parser", "markdown"),
        ("revision", "2" * 40),
        ("revision", "main"),
        ("content_sha256", "0"),
        ("candidate_count", 1),
        ("extra", 1),
    ],
)
def test_a_state_with_another_source_is_refused(tmp_path, key, value):
    rows, state = a_set()
    sources = [{**source, **({key: value} if n == 0 else {})} for n, source in enumerate(state["sources"])]
    write_raw(tmp_path, rows, signed(state, {"sources": sources}))
    with pytest.raises(FrontierIntegrityError, match=r"state\.json"):
        read_set(tmp_path)


def test_a_state_with_a_wrong_digest_or_another_layout_is_refused(tmp_path):
    rows, state = a_set()
    for spoiled, said in (
        ({**state, "state_sha256": "0" * 64}, "state_sha256"),
        (canonical_json(state).encode(), "not written as"),
        (b"{", "not UTF-8 JSON"),
    ):
        write_raw(tmp_path, rows, spoiled)
        with pytest.raises(FrontierIntegrityError, match=said):
            read_set(tmp_path)


def test_the_state_of_one_set_beside_the_rows_of_another_is_refused(tmp_path):
    rows, _ = a_set()
    _, other = a_set("2" * 40)
    write_raw(tmp_path, rows, other)
    with pytest.raises(FrontierIntegrityError, match="candidate_set_sha256"):
        read_set(tmp_path)


def test_a_folder_or_file_that_is_not_there_or_too_large_is_named(tmp_path, monkeypatch):
    with pytest.raises(FrontierIntegrityError, match="absent"):
        read_set(tmp_path / "absent")
    with pytest.raises(FrontierIntegrityError, match=r"candidates\.jsonl: cannot be read"):
        read_set(tmp_path)
    write_set(tmp_path, *a_set())
    monkeypatch.setattr("secondbrain.discovery.state.MAX_BYTES", 1000)
    with pytest.raises(FrontierIntegrityError, match="over 1000 bytes"):
        read_set(tmp_path)


# Ends the process at the n-th time that it opens, renames or removes a file of the set: no cleanup, no flush.
KILLED = """
import os, sys
from pathlib import Path
from secondbrain.discovery.state import read_set, write_set
folder, new, left = Path(sys.argv[1]), read_set(Path(sys.argv[2])), int(sys.argv[3])
def count_down(event, arguments):
    global left
    if event in ("open", "os.rename", "os.remove") and str(arguments[0]).startswith(str(folder)):
        left -= 1
        if left == 0:
            os._exit(9)
sys.addaudithook(count_down)
write_set(folder, *new)
"""


def test_a_writer_killed_at_any_point_leaves_the_old_set_or_the_new_one(tmp_path):
    old, new = a_set(), a_set("2" * 40)
    write_set(tmp_path / "new", *new)
    seen = []
    for point in range(1, 100):
        folder = tmp_path / f"killed-{point}"
        write_set(folder, *old)
        arguments = [sys.executable, "-c", KILLED, str(folder), str(tmp_path / "new"), str(point)]
        ran = subprocess.run(arguments, cwd=REPOSITORY_ROOT, capture_output=True, text=True)
        left = read_set(folder)
        assert left in (old, new)
        seen.append("new" if left == new else "old")
        # Whatever was left behind, the next writer ends in the new set and two files.
        write_set(folder, *new)
        assert read_set(folder) == new
        assert sorted(path.name for path in folder.iterdir()) == ["candidates.jsonl", "state.json"]
        if ran.returncode == 0:
            break
        assert ran.returncode == 9, ran.stderr
    assert seen == sorted(seen, reverse=True), "once the new set is in force it stays"
    assert {"old", "new"} == set(seen)
    assert len(seen) > 10


def test_reading_a_set_needs_neither_the_network_library_nor_the_detectors():
    code = (
        "import sys\n"
        "from secondbrain.discovery.state import read_set\n"
        "print(sorted({'httpx', 'detect_secrets', 'markdown_it', 'requests'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY_ROOT, capture_output=True, text=True)
    assert ran.stdout.strip() == "[]"


def test_an_atlas_row_count_is_what_the_state_says():
    _, state = a_set()
    by_id = {source["source_id"]: source["candidate_count"] for source in state["sources"]}
    assert by_id[ATLAS] == 61
    assert sum(by_id.values()) == state["candidate_count"]
