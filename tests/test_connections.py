"""How a finished file is opened: each protection holds, and is missed when it is taken out."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from secondbrain.errors import StoreIntegrityError
from secondbrain.store import connect
from secondbrain.store.connect import AUDIT_HARDENING, HARDENING, open_for_audit, open_reader
from secondbrain.store.opened import Store


def run(connection: apsw.Connection, sql: str) -> list[tuple[object, ...]]:
    return connection.execute(sql).fetchall()


WRITES = [
    "INSERT INTO term VALUES ('a', 1)",
    "CREATE TABLE other (a)",
    "DROP TABLE term",
    "PRAGMA user_version = 9",
    "INSERT INTO chunk_fts (chunk_fts) VALUES ('delete-all')",
    "PRAGMA journal_mode = WAL",
]


@pytest.mark.parametrize("opening", [open_reader, open_for_audit])
@pytest.mark.parametrize("sql", WRITES)
def test_no_connection_writes(store: Store, opening: Callable[[Path], apsw.Connection], sql: str) -> None:
    before = store.path.read_bytes()
    with closing(opening(store.path)) as connection:
        try:
            answer = run(connection, sql)
        except apsw.Error:
            answer = []
        assert answer in ([], [("delete",)])
    assert store.path.read_bytes() == before
    assert sorted(one.name for one in store.path.parent.glob("store-1.db*")) == [
        "store-1.db",
        "store-1.db.sha256",
    ]


def test_a_reader_has_no_temporary_tables_and_the_audit_has(store: Store) -> None:
    sql = "CREATE TEMP TABLE mine (a)"
    with closing(open_reader(store.path)) as connection, pytest.raises(apsw.ReadOnlyError):
        run(connection, sql)
    with closing(open_for_audit(store.path)) as connection:
        run(connection, sql)


# A protection, what it forbids, and the error without which it is not there.
FORBIDDEN: list[tuple[Callable[[apsw.Connection], None], str, type[Exception]]] = [
    (connect.query_only, "CREATE TEMP TABLE mine (a)", apsw.ReadOnlyError),
    (connect.no_quoted_strings, 'SELECT "no such column"', apsw.SQLError),
    (connect.no_extensions, "SELECT load_extension('/nowhere')", apsw.SQLError),
    (connect.low_limits, "ATTACH ':memory:' AS other", apsw.SQLError),
    (connect.low_limits, f"SELECT 1 /* {'x' * 70_000} */", apsw.TooBigError),
    (connect.low_limits, "SELECT length(zeroblob(17000000))", apsw.TooBigError),
]


@pytest.mark.parametrize(("protection", "sql", "error"), FORBIDDEN)
def test_a_protection_forbids_what_it_is_there_for(
    store: Store, protection: Callable[[apsw.Connection], None], sql: str, error: type[Exception]
) -> None:
    with closing(open_reader(store.path)) as connection, pytest.raises(error):
        run(connection, sql)


@pytest.mark.parametrize(
    ("protection", "sql", "error"), [one for one in FORBIDDEN if one[0] is not connect.no_extensions]
)
def test_without_the_protection_it_is_possible(
    store: Store,
    protection: Callable[[apsw.Connection], None],
    sql: str,
    error: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connect, "HARDENING", tuple(one for one in HARDENING if one is not protection))
    with closing(connect._open(store.path, connect.HARDENING)) as connection:
        run(connection, sql)


def test_a_damaged_cell_is_an_error_and_no_answer(store: Store) -> None:
    with closing(open_reader(store.path)) as connection:
        assert run(connection, "PRAGMA cell_size_check") == [(1,)]


def test_a_view_with_an_unsafe_function_is_not_run(store: Store) -> None:
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("DROP VIEW chunk_handle")
        connection.execute(
            "CREATE VIEW chunk_handle AS SELECT bm25(chunk_fts) AS score FROM chunk_fts('receipt')"
        )
    with closing(open_reader(store.path)) as connection, pytest.raises(apsw.SQLError, match="unsafe use"):
        run(connection, "SELECT * FROM chunk_handle")


def test_shadow_tables_and_the_schema_are_out_of_reach_of_the_audit_too(store: Store) -> None:
    with closing(open_for_audit(store.path)) as connection:
        assert run(connection, "PRAGMA writable_schema = ON") == []
        with pytest.raises(apsw.Error):
            run(connection, "UPDATE sqlite_schema SET sql = ''")
        with pytest.raises(apsw.Error):
            run(connection, "UPDATE chunk_fts_data SET block = x''")


def test_the_hardening_is_a_list_of_named_reasons() -> None:
    for protect in {*HARDENING, *AUDIT_HARDENING}:
        assert protect.__doc__
    assert set(AUDIT_HARDENING) < set(HARDENING)


def test_a_file_that_sqlite_cannot_open_is_refused(tmp_path: Path) -> None:
    for opening in (open_reader, open_for_audit):
        with pytest.raises(StoreIntegrityError, match="SQLite cannot open it"):
            opening(tmp_path / "nothing.db")
        with pytest.raises(StoreIntegrityError, match="SQLite cannot open it"):
            opening(tmp_path)


def test_a_memory_stays_small_for_every_thread(store: Store) -> None:
    with closing(open_reader(store.path)) as connection:
        assert run(connection, "PRAGMA cache_size") == [(-4096,)]
        assert run(connection, "PRAGMA temp_store") == [(2,)]
