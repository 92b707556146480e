"""The command line: a table for people, the payload alone for programs, one sentence for an error."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, ROWS, row, write_projection

from secondbrain import wire
from secondbrain.cli import main
from secondbrain.digests import canonical_json
from secondbrain.discovery.diff import diff_sets
from secondbrain.discovery.state import read_set
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.store.opened import Store

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command over the small store: exit code, output, errors."""
    monkeypatch.setenv("SECOND_BRAIN_CORPUS", str(store.path))

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return run


def test_json_is_the_librarys_payload_and_nothing_else(run: Run, store: Store) -> None:
    code, out, err = run("search", "receipt chain", "--json")
    assert (code, err) == (0, "")
    assert out == canonical_json(HybridSecondBrain(store).context("receipt chain")) + "\n"


def test_a_person_sees_rank_title_source_digest_words_and_mode(run: Run) -> None:
    code, out, _ = run("search", "receipts", "-k", "1")
    assert code == 0
    assert "Receipts" in out
    assert "receipts" in out
    assert "BM25_ONLY" in out
    assert "\x1b[" not in out


def test_no_text_of_a_chunk_is_printed(run: Run) -> None:
    for command in (
        ("search", "receipts"),
        ("search", "receipts", "--json"),
        ("status",),
        ("explain", "receipts", "note:1"),
    ):
        _, out, err = run(*command)
        for one in ROWS:
            assert one["text"] not in out + err


def test_an_abstention_leaves_with_three(run: Run) -> None:
    code, out, _ = run("search", "zebra")
    assert code == 3
    assert "ABSTAIN_NO_GROUNDED_HANDLES" in out


def test_several_words_are_one_query(run: Run) -> None:
    assert run("search", "receipt", "chain", "--json") == run("search", "receipt chain", "--json")


def test_a_double_dash_ends_options(run: Run) -> None:
    code, _, err = run("search", "--json", "--", "--receipts")
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    "arguments", [("search", "x", "-k", "13"), ("search",), ("nothing",), ("search", "x", "--no")]
)
def test_wrong_usage_leaves_with_two(run: Run, arguments: tuple[str, ...]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("Usage: ")


def test_an_over_long_query_is_one_sentence_without_the_query(run: Run) -> None:
    code, out, err = run("search", "secretword " * 200)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "2200 characters" in err
    assert "secretword" not in err


def test_an_unknown_source_is_refused_by_name(run: Run) -> None:
    code, _, err = run("search", "receipts", "--source", "nowhere")
    assert code == 2
    assert "nowhere" in err


def test_a_missing_corpus_is_one_sentence_that_names_the_variable(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECOND_BRAIN_CORPUS", "nowhere.jsonl")
    for command in (("search", "x"), ("status",), ("path",)):
        code, out, err = run(*command)
        assert code in (1, 2)
        assert out == ""
        assert err.count("\n") == 1
        assert "SECOND_BRAIN_CORPUS=nowhere.jsonl" in err


def test_verify_says_all_holds_or_a_line_a_finding(run: Run, store: Store, tmp_path: Path) -> None:
    assert run("verify")[0] == 0
    damaged = tmp_path / "damaged.db"
    content = bytearray(store.path.read_bytes())
    at = content.index(b"Each receipt is signed")
    content[at] ^= 1
    damaged.write_bytes(content)
    code, out, _ = run("verify", str(damaged))
    assert code == 1
    assert {line.split(":")[0] for line in out.splitlines()} >= {"row-digest", "rows-digest", "index"}
    code, out, _ = run("verify", str(damaged), "--json")
    assert code == 1
    assert json.loads(out)["state"] == "FAILED"


def test_verify_that_cannot_run_leaves_with_two(run: Run, tmp_path: Path) -> None:
    code, out, err = run("verify", str(tmp_path / "nowhere.db"))
    assert (code, out) == (2, "")
    assert "no such file" in err


def test_make_check_build_export_go_round(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "one.md").write_text(
        "# One\n\nFirst text.\n\n## Empty\n\n# Two\n\nSecond text.\n", encoding="utf-8"
    )
    projection, database, again = tmp_path / "p.jsonl", tmp_path / "p.db", tmp_path / "again.jsonl"
    code, out, _ = run("corpus", "make", str(documents), "-o", str(projection), "--json")
    assert code == 0
    made = json.loads(out)
    assert (made["rows"], made["documents"]) == (2, 1)
    assert made["notes"] == ["one.md, line 5: heading without text, no row"]
    code, out, _ = run("corpus", "check", str(projection), "--json")
    assert json.loads(out)["generation_sha256"] == made["generation_sha256"]
    assert run("build", "--corpus", str(projection), "-o", str(database))[0] == 0
    monkeypatch.setenv("SECOND_BRAIN_CORPUS", str(database))
    code, out, _ = run("corpus", "export", "-o", str(again), "--json")
    assert json.loads(out)["generation_parity"] is True
    assert again.read_bytes() == projection.read_bytes()


def test_people_read_the_same_of_make_check_build_and_export(run: Run, tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "one.md").write_text("# One\n\nFirst text.\n", encoding="utf-8")
    projection = str(tmp_path / "p.jsonl")
    assert "1 rows of 1 documents" in run("corpus", "make", str(documents), "-o", projection)[1]
    assert "1 rows, generation" in run("corpus", "check", projection)[1]
    assert "1 chunks, 0 candidates" in run("build", "--corpus", projection, "-o", str(tmp_path / "p.db"))[1]
    assert "holds text" in run("corpus", "export", "-o", str(tmp_path / "again.jsonl"))[1]


def test_a_refused_projection_is_one_sentence_and_leaves_no_file(run: Run, tmp_path: Path) -> None:
    bad = write_projection(tmp_path / "bad.jsonl", [row("a", "one"), {**row("b", "two"), "sha256": "0" * 64}])
    for command in (
        ("corpus", "check", str(bad)),
        ("build", "--corpus", str(bad), "-o", str(tmp_path / "bad.db")),
    ):
        code, out, err = run(*command)
        assert (code, out) == (1, "")
        assert err == f"secondbrain: {bad}, line 2: the digest of 'b' does not match its text\n"
    assert sorted(path.name for path in tmp_path.iterdir() if "bad" in path.name) == ["bad.jsonl"]


def test_bounds_can_be_given(run: Run, tmp_path: Path) -> None:
    two = write_projection(tmp_path / "two.jsonl", [row("a", "one"), row("b", "two")])
    code, _, err = run("corpus", "check", str(two), "--max-rows", "1")
    assert code == 1
    assert "more than 1 rows" in err
    code, _, err = run("build", "--corpus", str(two), "-o", str(tmp_path / "two.db"), "--max-bytes", "10")
    assert code == 1
    assert "larger than 10 bytes" in err


def test_explain_names_outcome_and_terms(run: Run) -> None:
    code, out, _ = run("explain", "receipt chain zebra", "note:1")
    assert code == 0
    assert "SELECTED" in out
    assert "zebra" in out
    code, out, _ = run("explain", "receipt chain", "note:1", "--json")
    assert json.loads(out)["schema"] == wire.EXPLANATION
    assert run("explain", "receipt", "no:such")[0] == 2


def test_a_kept_context_is_verified(run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "context.json"
    kept.write_text(run("search", "receipts", "--json")[1], encoding="utf-8")
    code, out, _ = run("receipt", "verify", str(kept))
    assert code == 0
    assert out.startswith("VERIFIED\n")
    changed = json.loads(kept.read_text(encoding="utf-8"))
    changed["handles"][0]["note"] = "another"
    kept.write_text(json.dumps(changed), encoding="utf-8")
    code, out, _ = run("receipt", "verify", str(kept), "--json")
    assert code == 1
    assert json.loads(out)["state"] == "TAMPERED"
    kept.write_text("{", encoding="utf-8")
    assert run("receipt", "verify", str(kept))[0] == 2
    kept.write_text("{}", encoding="utf-8")
    assert run("receipt", "verify", str(kept))[0] == 2


def test_status_and_path_agree_with_the_store(run: Run, store: Store) -> None:
    code, out, _ = run("status", "--json")
    assert code == 0
    assert json.loads(out)["generation_sha256"] == store.snapshot().generation_sha256
    assert "READY" in run("status")[1]
    assert run("path")[1].strip() == str(store.path.resolve())
    assert json.loads(run("path", "--json")[1]) == {"path": str(store.path.resolve())}


def test_an_unavailable_store_is_said_and_leaves_with_one(run: Run, store: Store) -> None:
    content = bytearray(store.path.read_bytes())
    content[-1] ^= 1
    assert run("search", "receipts")[0] == 0
    store.path.write_bytes(content)
    code, out, err = run("search", "receipts")
    assert code == 1
    assert "UNAVAILABLE" in out
    assert "secondbrain verify" in err
    code, out, _ = run("status")
    assert code == 1
    assert "StoreIntegrityError" in out


def test_output_into_a_closed_pipe_ends_quietly(store: Store) -> None:
    command = [
        sys.executable,
        "-c",
        "from secondbrain.cli import main; main(['search', 'receipts', '--json'])",
    ]
    reader, writer = os.pipe()
    os.close(reader)
    environment = {**os.environ, "SECOND_BRAIN_CORPUS": str(store.path)}
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environment, check=False)
    os.close(writer)
    assert b"Traceback" not in done.stderr


def test_a_query_that_is_no_utf8_is_refused_by_name(store: Store) -> None:
    command = [sys.executable, "-c", "from secondbrain.cli import main; main()", "search", b"\xff\xfe"]
    environment = {**os.environ, "SECOND_BRAIN_CORPUS": str(store.path)}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 2
    assert b"lone surrogate" in done.stderr


def test_the_frontier_is_shown_searched_and_compared(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_store: Callable[..., Store]
) -> None:
    assert run("frontier", "status")[0] == 1
    assert run("frontier", "search", "formula")[0] == 1
    assert run("anatomy")[0] == 1
    monkeypatch.setenv("SECOND_BRAIN_CORPUS", str(make_store(frontier=ROOT / "frontier").path))
    code, out, _ = run("frontier", "status")
    assert code == 0
    assert "living_anatomy" in out
    assert json.loads(run("frontier", "status", "--json")[1])["ready"] is True
    code, out, _ = run("frontier", "search", "entropy", "--kind", "attributed-formula", "-k", "2")
    assert code == 0
    assert "REVIEW_REQUIRED · 2 candidates · promotion authority NONE" in out
    assert json.loads(run("frontier", "search", "entropy", "--json")[1])["schema"] == wire.FRONTIER_SEARCH
    assert run("frontier", "search", "zebra")[0] == 3
    assert "READ_ONLY_LIVING_ANATOMY_OBSERVATION" in run("anatomy", "-k", "2")[1]
    assert json.loads(run("anatomy", "-k", "2", "--json")[1])["k"] == 2


def test_a_set_is_compared_with_a_folder_or_a_revision(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT / "frontier", checkout / "frontier")
    monkeypatch.chdir(checkout)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "one"]):
        subprocess.run([*git, *command], check=True)
    code, out, _ = run("frontier", "diff")
    assert code == 0
    assert "unchanged:         124" in out
    rows, _ = read_set(Path("frontier"))
    changed = [{**rows[0], "title": "Another title"}, *rows[2:]]
    found = diff_sets(rows, changed)  # type: ignore[arg-type]
    assert (found["counts"]["changed"], found["counts"]["removed"]) == (1, 1)
    assert (
        json.loads(run("frontier", "diff", "HEAD", "--new", "frontier", "--json")[1])["counts"]["unchanged"]
        == 124
    )
    assert run("frontier", "diff", str(ROOT / "frontier"))[0] == 0
    code, _, err = run("frontier", "diff", "no-such-revision")
    assert code == 1
    assert "git show failed" in err


def test_a_refresh_from_a_folder_prints_its_receipt_and_fails_with_one(run: Run, tmp_path: Path) -> None:
    out_dir = tmp_path / "out"
    code, out, _ = run("frontier", "refresh", "--from", str(tmp_path), "--out", str(out_dir), "--json")
    assert code == 1
    receipt = json.loads(out)
    assert receipt["schema"] == wire.FRONTIER_RUN
    assert receipt["ready"] is False
    code, out, _ = run("frontier", "refresh", "--from", str(tmp_path), "--out", str(out_dir))
    assert code == 1
    assert "REFUSED" in out


def test_a_proposal_outside_the_repository_of_proposals_is_refused_with_a_receipt(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "run.json"
    code, out, _ = run("frontier", "propose", "--from", str(tmp_path), "--receipt", str(kept))
    assert code == 1
    assert "REFUSED" in out
    assert json.loads(kept.read_text(encoding="utf-8"))["merge_authority"] == "NONE"


def test_mcp_has_no_json_and_help_works(run: Run) -> None:
    assert run("mcp", "--json")[0] == 2
    assert run("--help")[0] == 0
    assert run("--version")[0] == 0


def test_an_output_is_never_the_input_nor_a_file_of_another_kind(
    run: Run, store: Store, tmp_path: Path
) -> None:
    before = store.path.read_bytes()
    code, _, err = run("corpus", "export", "-o", str(store.path))
    assert code == 2
    assert "is what is read" in err
    projection = write_projection(tmp_path / "own.jsonl", ROWS)
    content = projection.read_bytes()
    assert run("build", "--corpus", str(projection), "-o", str(projection))[0] == 2
    notes = tmp_path / "notes"
    notes.mkdir()
    document = notes / "a.md"
    document.write_text("# A\n\nText.\n", encoding="utf-8")
    code, _, err = run("corpus", "make", str(notes), "-o", str(document))
    assert code == 2
    assert "is no projection" in err
    assert run("build", "--corpus", str(projection), "-o", str(document))[0] == 2
    code, _, err = run("corpus", "make", str(notes), "-o", str(tmp_path / "nowhere" / "p.jsonl"))
    assert code == 2
    assert "there is no such folder" in err
    assert store.path.read_bytes() == before
    assert projection.read_bytes() == content
    assert document.read_text(encoding="utf-8") == "# A\n\nText.\n"


def test_a_terminal_that_lacks_a_letter_shows_its_number_and_json_stays_utf8(store: Store) -> None:
    command = [sys.executable, "-m", "secondbrain.cli", "search", "Λ uniqueness"]
    environment = {**os.environ, "SECOND_BRAIN_CORPUS": str(store.path), "PYTHONIOENCODING": "ascii"}
    shown = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert b"\\u039b" in shown.stdout
    payload = subprocess.run([*command, "--json"], capture_output=True, env=environment, check=True)
    assert json.loads(payload.stdout.decode("utf-8"))["ready"] is True


def test_a_port_that_is_taken_is_one_sentence(store: Store) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "secondbrain.cli", "serve", "--port", port]
        environment = {**os.environ, "SECOND_BRAIN_CORPUS": str(store.path)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"secondbrain: 127.0.0.1:{port}: Address already in use")


def test_a_misspelt_setting_is_refused_by_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECOND_BRAIN_CORPUS_SHA265", "0" * 64)
    code, _, err = run("status")
    assert code == 2
    assert "SECOND_BRAIN_CORPUS_SHA265 is no setting" in err
