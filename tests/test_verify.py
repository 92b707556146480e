"""Each check of the audit finds the damage that it is there for, and no other check finds that damage."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from conftest import ROOT, ROWS, row, write_projection

from secondbrain.digests import sha256_file, sha256_text
from secondbrain.errors import StoreIntegrityError
from secondbrain.store import build as builder
from secondbrain.store import digest, verify
from secondbrain.store.build import build
from secondbrain.store.sidecar import sidecar, write_sidecar
from secondbrain.store.verify import CHECKS, verification, verify_file
from secondbrain.text import prepared

FRONTIER = ROOT / "frontier"
# Enough words for an index of several pages: one page is found without the table of pages.
MANY = [row(f"z:{n:03}", f"filler{n} stands beside remark{n * 7}") for n in range(500)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with chunks, aliases and the committed candidates."""
    folder = tmp_path_factory.mktemp("built")
    aliases = folder / "aliases.toml"
    aliases.write_text('[[alias]]\nterm = "RRF"\nsame_as = "reciprocal rank fusion"\nreason = "its name"\n')
    out = folder / "store.db"
    build(write_projection(folder / "p.jsonl", [*ROWS, *MANY]), out, frontier=FRONTIER, aliases=aliases)
    return out


@pytest.fixture
def file(built: Path, tmp_path: Path) -> Path:
    """A copy of it, with no digest beside it."""
    return Path(shutil.copy(built, tmp_path / "copy.db"))


@contextmanager
def edited(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file as someone with a shell would who drops the triggers and puts them back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f'DROP TRIGGER "{name}"')
        yield connection
        for _, sql in triggers:
            connection.execute(sql)


@contextmanager
def schema_edited(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file with ``writable_schema``: rows of sqlite_schema can go, their pages stay."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        yield connection


def restate_rows(connection: sqlite3.Connection) -> None:
    """Make the rows digest agree with whatever the rows are now."""
    rows = connection.execute(
        "SELECT ordinal, position, node_id, source, source_id, title, text, sha256, derived_from"
        " FROM chunk ORDER BY ordinal"
    )
    connection.execute("UPDATE generation SET rows_sha256 = ?", (digest.rows_sha256(rows),))


# -- damage that exactly one check finds -------------------------------------------------------------------


def a_byte_is_added(path: Path) -> None:
    shutil.copy(path, path.with_suffix(".whole"))
    content = path.read_bytes()
    sidecar(path).write_text(f"{sha256_of(content)}  {path.name}\n")
    path.write_bytes(content + b"\0")


def sha256_of(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()


def the_version_is_changed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 3")


def the_application_id_is_changed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 1")


def the_journal_mode_is_changed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)


def an_index_is_stale(path: Path) -> None:
    """The index keeps an id that its table has no more: that node is not found."""
    with edited(path) as connection:
        connection.execute("UPDATE chunk SET node_id = 'doc:a:0001x' WHERE node_id = 'doc:a:0001'")
    with schema_edited(path) as connection:
        entry = connection.execute("SELECT * FROM sqlite_schema WHERE name = 'chunk_by_node'").fetchone()
        connection.execute("DELETE FROM sqlite_schema WHERE name = 'chunk_by_node'")
    with edited(path) as connection:
        connection.execute("UPDATE chunk SET node_id = 'doc:a:0001' WHERE node_id = 'doc:a:0001x'")
    with schema_edited(path) as connection:
        connection.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", entry)


def no_word_is_found_any_more(path: Path) -> None:
    """Searches go through chunk_fts_idx, a scan of the words does not, nor does SQLite's own check."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM chunk_fts_idx")
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH 'receipt'")
        assert found.fetchall() == [(0,)]


def no_candidate_is_found_any_more(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM frontier_fts_idx")


def the_generation_is_another_text(path: Path) -> None:
    with edited(path) as connection:
        connection.execute("UPDATE generation SET generation_sha256 = 'none'")


def a_trigger_is_gone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER chunk_no_update")


def a_trigger_is_another(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER chunk_no_update")
        connection.execute("CREATE TRIGGER chunk_no_update BEFORE UPDATE ON chunk BEGIN SELECT 1; END")


def a_view_is_added(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE VIEW chunk_text AS SELECT text FROM chunk")


def a_view_shows_more(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP VIEW chunk_handle")
        connection.execute("CREATE VIEW chunk_handle AS SELECT * FROM chunk")


def statistics_are_added(path: Path) -> None:
    """sqlite_stat1 can turn a query plan."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ANALYZE")


def a_text_is_changed_and_the_rows_digest_with_it(path: Path) -> None:
    """A full stop becomes a question mark: no word of the index changes."""
    with edited(path) as connection:
        connection.execute("UPDATE chunk SET text = replace(text, '.', '?') WHERE node_id = 'doc:b:0001'")
        restate_rows(connection)


def a_title_is_changed(path: Path) -> None:
    with edited(path) as connection:
        connection.execute("UPDATE chunk SET title = title || '!' WHERE node_id = 'doc:b:0001'")


def a_source_is_changed(path: Path) -> None:
    with edited(path) as connection:
        connection.execute("UPDATE chunk SET source = 'invariant' WHERE node_id = 'note:1'")


def a_text_and_its_digest_are_changed(path: Path) -> None:
    with edited(path) as connection:
        [(text,)] = connection.execute("SELECT text FROM chunk WHERE node_id = 'doc:b:0001'")
        other = text.replace(".", "?")
        connection.execute(
            "UPDATE chunk SET text = ?, sha256 = ? WHERE node_id = 'doc:b:0001'", (other, sha256_text(other))
        )


def two_ids_are_swapped(path: Path) -> None:
    with edited(path) as connection:
        ids = ("doc:a:0001", "doc:a:0002")
        for old, new in ((ids[0], "-"), (ids[1], ids[0]), ("-", ids[1])):
            connection.execute("UPDATE chunk SET node_id = ? WHERE node_id = ?", (new, old))
        restate_rows(connection)


def a_position_is_left_out(path: Path) -> None:
    with edited(path) as connection:
        connection.execute("UPDATE chunk SET position = 9999 WHERE position = 5")
        restate_rows(connection)


def the_count_is_changed(path: Path) -> None:
    with edited(path) as connection:
        connection.execute("UPDATE generation SET chunk_count = 7")


def the_index_is_emptied(path: Path) -> None:
    """No trigger stands before this: it is a plain INSERT into the index."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('delete-all')")


def words_are_put_in_another_order(path: Path) -> None:
    """A phrase is lost; every count of the index stays."""
    with closing(sqlite3.connect(path)) as connection, connection:
        [(ordinal, title, text)] = connection.execute(
            "SELECT ordinal, title, text FROM chunk WHERE node_id = 'doc:a:0002'"
        )
        was, becomes = prepared(text), " ".join(reversed(prepared(text).split()))
        connection.execute(
            "INSERT INTO chunk_fts (chunk_fts, rowid, title, text) VALUES ('delete', ?, ?, ?)",
            (ordinal, prepared(title), was),
        )
        connection.execute(
            "INSERT INTO chunk_fts (rowid, title, text) VALUES (?, ?, ?)", (ordinal, prepared(title), becomes)
        )


def a_length_is_changed(path: Path) -> None:
    """A chunk that claims to be short ranks first."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE chunk_fts_docsize SET sz = x'0101' WHERE id = 3")


def the_averages_are_changed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE chunk_fts_data SET block = x'060606' WHERE id = 1")


def a_setting_is_stored(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO chunk_fts_config VALUES ('rank', 'bm25(0.0, 10.0)')")


def a_candidates_words_are_taken_out(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO frontier_fts (frontier_fts) VALUES ('delete-all')")


def a_stated_index_digest_is_changed(path: Path) -> None:
    with edited(path) as connection:
        connection.execute("UPDATE generation SET index_sha256 = frontier_index_sha256")


def a_words_count_is_changed(path: Path) -> None:
    with edited(path) as connection:
        connection.execute("UPDATE term SET chunks = chunks + 1 WHERE term = 'receipt'")


def a_word_is_added(path: Path) -> None:
    with edited(path) as connection:
        connection.execute("INSERT INTO term VALUES ('zebra', 1)")


def an_alias_is_added(path: Path) -> None:
    with edited(path) as connection:
        connection.execute("INSERT INTO alias VALUES (9, 'proven', 'conjecture', 'wishful')")


def an_alias_has_another_reason(path: Path) -> None:
    with edited(path) as connection:
        connection.execute("UPDATE alias SET reason = 'none' WHERE row = 1")


def a_formula_is_declared_proven(path: Path) -> None:
    with edited(path) as connection:
        connection.execute("INSERT INTO locked_proven VALUES ('F99')")


def a_reported_status_is_changed(path: Path) -> None:
    with edited(path) as connection:
        changed = connection.execute(
            "UPDATE frontier_candidate SET reported_status = 'PROVEN' WHERE kind = 'attributed-formula'"
        )
        assert changed.rowcount > 0


def a_state_says_more(path: Path) -> None:
    with edited(path) as connection:
        [(state,)] = connection.execute("SELECT state FROM frontier_state")
        changed = {**json.loads(state), "promotion_authority": "FULL"}
        connection.execute("UPDATE frontier_state SET state = ?", (json.dumps(changed),))


def a_source_has_another_revision(path: Path) -> None:
    with edited(path) as connection:
        connection.execute("UPDATE frontier_source SET revision = ?", ("0" * 40,))


def a_candidate_is_put_under_another_source(path: Path) -> None:
    with edited(path) as connection:
        [(source_id, count)] = connection.execute(
            "SELECT source_id, count(*) FROM frontier_candidate GROUP BY source_id ORDER BY 2 DESC LIMIT 1"
        )
        assert count > 0
        connection.execute(
            "UPDATE frontier_candidate SET source_id = ? WHERE ordinal ="
            " (SELECT min(ordinal) FROM frontier_candidate WHERE source_id <> ?)",
            (source_id, source_id),
        )


def the_state_is_gone(path: Path) -> None:
    with edited(path) as connection:
        connection.execute("DELETE FROM frontier_state")


DAMAGES: list[tuple[str, Callable[[Path], None]]] = [
    ("file-digest", a_byte_is_added),
    ("schema-version", the_version_is_changed),
    ("schema-version", the_application_id_is_changed),
    ("schema-version", the_journal_mode_is_changed),
    ("integrity", an_index_is_stale),
    ("inventory", a_trigger_is_gone),
    ("inventory", a_trigger_is_another),
    ("inventory", a_view_is_added),
    ("inventory", a_view_shows_more),
    ("inventory", statistics_are_added),
    ("row-digest", a_text_is_changed_and_the_rows_digest_with_it),
    ("rows-digest", a_title_is_changed),
    ("rows-digest", a_source_is_changed),
    ("rows-digest", a_text_and_its_digest_are_changed),
    ("order", two_ids_are_swapped),
    ("order", a_position_is_left_out),
    ("generation", the_count_is_changed),
    ("generation", the_generation_is_another_text),
    ("index", no_word_is_found_any_more),
    ("index", no_candidate_is_found_any_more),
    ("index", words_are_put_in_another_order),
    ("index", a_length_is_changed),
    ("index", the_averages_are_changed),
    ("index", a_setting_is_stored),
    ("index", a_candidates_words_are_taken_out),
    ("index", a_stated_index_digest_is_changed),
    ("terms", a_words_count_is_changed),
    ("terms", a_word_is_added),
    ("aliases", an_alias_is_added),
    ("aliases", an_alias_has_another_reason),
    ("frontier", a_formula_is_declared_proven),
    ("frontier", a_reported_status_is_changed),
    ("frontier", a_state_says_more),
    ("frontier", a_source_has_another_revision),
    ("frontier", a_candidate_is_put_under_another_source),
    ("frontier", the_state_is_gone),
]


def found_by(path: Path) -> set[str]:
    return {finding["check"] for finding in verify_file(path).findings}


def test_there_is_damage_for_every_check() -> None:
    assert {check for check, _ in DAMAGES} == {name for name, _ in CHECKS}


def test_a_file_as_it_was_built_has_no_finding(file: Path, built: Path) -> None:
    assert found_by(file) == set()
    assert verify_file(built).findings == []


@pytest.mark.parametrize(("check", "damage"), DAMAGES, ids=lambda one: getattr(one, "__name__", one))
def test_damage_is_found_by_the_check_that_is_there_for_it(
    file: Path, check: str, damage: Callable[[Path], None]
) -> None:
    damage(file)
    assert found_by(file) == {check}


@pytest.mark.parametrize(("check", "damage"), DAMAGES, ids=lambda one: getattr(one, "__name__", one))
def test_damage_goes_unnoticed_when_its_check_is_taken_out(
    file: Path, check: str, damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "CHECKS", tuple(one for one in CHECKS if one[0] != check))
    damage(file)
    assert found_by(file) == set()


# -- damage that several checks find -----------------------------------------------------------------------


def test_an_emptied_index_is_found(file: Path) -> None:
    the_index_is_emptied(file)
    assert {"index", "terms"} <= found_by(file)


def test_a_row_taken_out_is_found(file: Path) -> None:
    with edited(file) as connection:
        connection.execute("DELETE FROM chunk WHERE ordinal = 2")
    assert {"rows-digest", "order", "generation", "index"} <= found_by(file)


def test_a_generation_row_taken_out_is_found(file: Path) -> None:
    with edited(file) as connection:
        connection.execute("DELETE FROM generation")
    assert {"rows-digest", "generation", "index", "aliases", "frontier"} <= found_by(file)


def test_candidates_without_a_state_or_a_state_without_candidates_are_found(file: Path) -> None:
    with edited(file) as connection:
        connection.execute("DELETE FROM frontier_candidate")
    assert {"frontier", "index"} <= found_by(file)


def test_two_states_are_found(file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        [(state,)] = connection.execute("SELECT state FROM frontier_state")
        connection.executescript("DROP TABLE frontier_state; CREATE TABLE frontier_state (one, state)")
        connection.executemany("INSERT INTO frontier_state VALUES (?, ?)", [(1, state), (2, state)])
    assert {"inventory", "frontier"} <= found_by(file)


@pytest.mark.parametrize("value", ["NULL", "7", "x'ff'", "CAST(x'ff' AS TEXT)", "'['", "'[]'", "'{}'"])
def test_a_value_of_another_kind_is_a_finding_and_no_crash(file: Path, value: str) -> None:
    """Tables lose STRICT and NOT NULL by the schema's text alone; then anything can stand in a column."""
    with schema_edited(file) as connection:
        connection.execute(
            "UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT', ''), 'NOT NULL', '')"
            " WHERE type = 'table' AND name NOT LIKE '%fts%'"
        )
    with edited(file) as connection:
        connection.execute(f"UPDATE chunk SET text = {value} WHERE ordinal = 1")
        connection.execute(f"UPDATE frontier_state SET state = {value}")
        connection.execute(f"UPDATE generation SET rows_sha256 = {value}, generation_sha256 = {value}")
        connection.execute(f"UPDATE locked_proven SET f_number = {value} WHERE f_number = 'F1'")
    assert {"inventory", "rows-digest", "frontier"} <= found_by(file)
    json.dumps(verification(verify_file(file)), allow_nan=False)


def test_a_table_that_runs_for_ever_does_not_hold_up_the_audit(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "LEAST_SECONDS", 0.2)
    monkeypatch.setattr(verify, "LEAST_BYTES_A_SECOND", 2**40)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.executescript(
            "DROP TABLE alias; CREATE VIEW alias AS"
            " WITH RECURSIVE n(row) AS (SELECT 1 UNION ALL SELECT row + 1 FROM n)"
            " SELECT row, 'a' AS term, 'b' AS same_as, 'c' AS reason FROM n WHERE row < 0"
        )
    findings = verify_file(file).findings
    assert {"check": "aliases", "detail": "the check cannot run: InterruptError"} in findings


@pytest.mark.parametrize("content", ["", "no database\n" * 500])
def test_a_file_that_is_no_database_cannot_be_audited(tmp_path: Path, content: str) -> None:
    path = tmp_path / "text.db"
    path.write_text(content)
    with pytest.raises(StoreIntegrityError, match="is no SQLite database"):
        verify_file(path)


def test_a_file_without_a_digest_beside_it_is_not_said_to_have_been_held_against_one(file: Path) -> None:
    assert "file-digest" not in verify_file(file).checked
    write_sidecar(file, [sha256_file(file)])
    assert "file-digest" in verify_file(file).checked


def test_an_audit_that_cannot_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreIntegrityError, match="no such file"):
        verify_file(tmp_path / "nothing.db")
    with pytest.raises(StoreIntegrityError, match="no such file"):
        verify_file(tmp_path)


def test_a_damaged_digest_file_is_a_finding(file: Path) -> None:
    sidecar(file).write_text("0" * 64)
    assert found_by(file) == {"file-digest"}


def test_the_payload_names_what_was_checked_and_what_is_not_proven(file: Path) -> None:
    held = verification(verify_file(file))
    assert (held["state"], held["ready"], held["findings"]) == ("VERIFIED", True, [])
    assert held["checked"] == [name for name, _ in CHECKS if name != "file-digest"]  # none lies beside it
    assert len(held["not_proven"]) == 2
    the_count_is_changed(file)
    failed = verification(verify_file(file))
    assert (failed["state"], failed["ready"]) == ("FAILED", False)
    assert [finding["check"] for finding in failed["findings"]] == ["generation"]


def test_no_finding_holds_a_text(file: Path) -> None:
    with edited(file) as connection:
        connection.execute("UPDATE chunk SET text = 'Opensesame ' || text, title = 'Opensesame'")
    assert "opensesame" not in json.dumps(verification(verify_file(file))).lower()


def test_a_file_is_never_healed(file: Path) -> None:
    the_index_is_emptied(file)
    before = file.read_bytes()
    verify_file(file)
    assert file.read_bytes() == before


def test_the_audit_of_a_store_without_candidates_holds(tmp_path: Path) -> None:
    out = tmp_path / "store.db"
    built = build(write_projection(tmp_path / "p.jsonl", [row("only:1", "One row alone.")]), out)
    assert built.candidates == 0
    assert verify_file(out).findings == []


def test_a_library_of_another_version_finds_the_same_index(file: Path) -> None:
    """The builder's SQLite is Python's, the audit's is apsw's: the index digest is the same in both."""
    import apsw

    with closing(sqlite3.connect(file)) as connection:
        [(stated,)] = connection.execute("SELECT index_sha256 FROM generation")
        connection.execute(
            "CREATE VIRTUAL TABLE temp.chunk_places USING fts5vocab (main, chunk_fts, instance)"
        )
        here = digest.index_sha256(connection.execute(builder.statement("verify/chunk_index_places")))
    assert stated == here
    assert verify_file(file).findings == []
    assert apsw.sqlite_lib_version() != sqlite3.sqlite_version or stated == here
