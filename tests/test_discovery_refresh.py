"""A run: seven payloads in, one set out, or the set as it was and a receipt that says why."""

import json
import time

import pytest
from discovery_payloads import (
    ANATOMY,
    ATLAS,
    CONTRACTS,
    atlas,
    atlas_bytes,
    payloads,
    upstream_folder,
    write_folder,
)
from github_simulator import GitHubSimulator

from secondbrain.discovery.refresh import refresh
from secondbrain.discovery.state import read_set
from secondbrain.errors import ConfigurationError

TOKEN = "a-token-for-tests"


@pytest.fixture
def github():
    with GitHubSimulator() as simulator:
        yield simulator


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_network_and_a_folder_give_the_same_bytes(tmp_path, github):
    receipt = refresh(tmp_path / "network", transport=github.transport, token=TOKEN)
    assert (receipt["state"], receipt["ready"], receipt["origin"]) == ("REFRESHED", True, "GITHUB")
    folder = tmp_path / "payloads"
    write_folder(folder)
    listed = json.loads((folder / "sources.json").read_text())
    for entry in listed:
        entry["revision"] = github.revisions[entry["source_id"]][-1][0]
    (folder / "sources.json").write_text(json.dumps(listed))
    assert refresh(tmp_path / "folder", from_dir=folder)["origin"] == "FOLDER"
    assert bytes_of(tmp_path / "network") == bytes_of(tmp_path / "folder")


def test_the_receipt_names_revisions_digests_counts_and_no_authority(tmp_path, github):
    receipt = refresh(tmp_path, transport=github.transport, token=TOKEN)
    rows, state = read_set(tmp_path)
    assert receipt["schema"] == "szl.second-brain.continuous-frontier-run/v1"
    assert receipt["candidate_set_sha256"] == state["candidate_set_sha256"]
    assert receipt["state_sha256"] == state["state_sha256"]
    assert receipt["candidate_count"] == len(rows) == receipt["changes"]["added"]
    assert {source["source_id"]: source["revision"] for source in receipt["sources"]} == {
        source_id: history[-1][0] for source_id, history in github.revisions.items()
    }
    for authority in ("training", "promotion", "execution", "merge"):
        assert receipt[f"{authority}_authority"] == "NONE"
    assert receipt["private_graph_nodes_loaded"] == receipt["raw_graph_nodes_admitted_to_gradients"] == 0


def test_the_receipt_holds_no_text_and_no_token(tmp_path, github):
    receipt = refresh(tmp_path, transport=github.transport, token=TOKEN)
    written = json.dumps(receipt, ensure_ascii=False)
    assert TOKEN not in written
    assert not any(row["content"] in written for row in read_set(tmp_path)[0])


def test_an_unchanged_set_is_not_written_again(tmp_path, github):
    refresh(tmp_path, transport=github.transport)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    receipt = refresh(tmp_path, transport=github.transport)
    assert receipt["state"] == "NO_CHANGE"
    assert receipt["changes"] == {
        "added": 0,
        "changed": 0,
        "removed": 0,
        "unchanged": receipt["candidate_count"],
    }
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_a_person_who_watches_sees_a_line_a_source(tmp_path):
    seen = []
    refresh(
        tmp_path / "out", from_dir=write_folder(tmp_path / "in"), progress=lambda *line: seen.append(line)
    )
    assert [source_id for source_id, _ in seen] == list(CONTRACTS)
    assert seen[0] == (ATLAS, "61 candidates at 111111111111")


@pytest.mark.parametrize("source_id", CONTRACTS)
def test_one_failing_source_leaves_the_set_as_it_was_and_is_named(tmp_path, github, source_id):
    refresh(tmp_path, transport=github.transport)
    before = bytes_of(tmp_path)
    for other in CONTRACTS:
        github.publish(other, payloads()[other].replace(b"Lane", b"Line"))
    github.fail("raw", source_id, "cut_off")
    receipt = refresh(tmp_path, transport=github.transport)
    assert (receipt["state"], receipt["ready"], receipt["failed_source"]) == ("UNAVAILABLE", False, source_id)
    assert receipt["error_type"] == "ProviderUnavailable"
    assert bytes_of(tmp_path) == before


def test_a_secret_in_any_source_refuses_the_run_before_anything_is_written(tmp_path):
    secret = "AKIA" + "IOSFODNN7" + "ABCDEFG"
    for source_id, data in payloads().items():
        folder = write_folder(tmp_path / source_id, {source_id: data + b"\n" + secret.encode()})
        receipt = refresh(tmp_path / "out", from_dir=folder)
        assert (receipt["state"], receipt["failed_source"]) == ("REFUSED", source_id)
        assert secret not in json.dumps(receipt)
        assert not (tmp_path / "out").exists()


def test_a_secret_behind_an_escape_is_found_before_anything_is_written(tmp_path):
    document = atlas()
    document["attributed_formulas"][2]["statement"] = "-----BEGIN RSA PRIVATE " + "KEY-----"
    hidden = atlas_bytes(document).replace(b"BEGIN RSA", b"BEGIN \\u0052SA").replace(b"KEY--", b"\\u004bEY--")
    receipt = refresh(tmp_path / "out", from_dir=write_folder(tmp_path / "in", {ATLAS: hidden}))
    assert (receipt["state"], receipt["failed_source"]) == ("REFUSED", ATLAS)
    assert "candidate frontier:" in receipt["error"]
    assert not (tmp_path / "out").exists()


def test_a_source_outside_its_contract_refuses_the_run(tmp_path):
    folder = write_folder(tmp_path / "in", {ATLAS: b"{}"})
    receipt = refresh(tmp_path / "out", from_dir=folder)
    assert (receipt["state"], receipt["error_type"]) == ("REFUSED", "FrontierIntegrityError")


def test_a_replayed_old_revision_refuses_the_run(tmp_path, github):
    github.publish(ANATOMY, b"# Newer\n")
    refresh(tmp_path, transport=github.transport)
    before = bytes_of(tmp_path)
    github.fail("commits", ANATOMY, "old_revision")
    receipt = refresh(tmp_path, transport=github.transport)
    assert (receipt["state"], receipt["failed_source"]) == ("REFUSED", ANATOMY)
    assert "played again" in receipt["error"]
    assert bytes_of(tmp_path) == before


def test_a_changed_source_shows_in_the_receipt(tmp_path, github):
    refresh(tmp_path, transport=github.transport)
    github.publish(ANATOMY, b"# Anatomy\n\nAnother picture.\n\n## New\n")
    receipt = refresh(tmp_path, transport=github.transport)
    assert receipt["state"] == "REFRESHED"
    assert receipt["changes"] == {
        "added": 1,
        "changed": 1,
        "removed": 0,
        "unchanged": receipt["candidate_count"] - 2,
    }
    lineages = {source["source_id"]: source["lineage"] for source in receipt["sources"]}
    assert lineages[ANATOMY] == "AHEAD"
    assert set(lineages.values()) == {"AHEAD", "SAME"}


@pytest.mark.parametrize("name", ["candidates.jsonl", "state.json"])
def test_a_damaged_set_is_not_built_upon(tmp_path, name):
    folder = write_folder(tmp_path / "in")
    out = tmp_path / "out"
    refresh(out, from_dir=folder)
    (out / name).unlink()
    receipt = refresh(out, from_dir=folder)
    assert (receipt["state"], receipt["failed_source"]) == ("REFUSED", None)
    assert "remove them and refresh again" in receipt["error"]


def test_what_the_machine_cannot_do_raises(tmp_path):
    folder = write_folder(tmp_path / "in")
    with pytest.raises(ConfigurationError, match="TOKEN"):
        refresh(tmp_path / "out", token="not a token")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        refresh(tmp_path / "file", from_dir=folder)


def test_the_real_payloads_give_the_committed_set_in_less_than_a_second(tmp_path):
    from discovery_payloads import REPOSITORY_ROOT

    folder = upstream_folder(tmp_path) / "payloads"
    refresh(tmp_path / "warm", from_dir=folder)  # the detectors are imported once a process
    began = time.perf_counter()
    assert refresh(tmp_path / "out", from_dir=folder)["ready"]
    assert time.perf_counter() - began < 1
    committed = {
        name: (REPOSITORY_ROOT / "frontier" / name).read_bytes() for name in bytes_of(tmp_path / "out")
    }
    assert bytes_of(tmp_path / "out") == committed


def test_receipts_and_diffs_keep_their_schemas(tmp_path, github):
    from secondbrain.discovery.diff import diff_sets
    from secondbrain.schemas import checked
    from secondbrain.wire import FRONTIER_DIFF, FRONTIER_RUN

    checked(FRONTIER_RUN, refresh(tmp_path, transport=github.transport))
    github.fail("raw", ANATOMY, "cut_off")
    checked(FRONTIER_RUN, refresh(tmp_path, transport=github.transport))
    rows, _ = read_set(tmp_path)
    checked(FRONTIER_DIFF, diff_sets(rows[1:], rows[:-1]))
