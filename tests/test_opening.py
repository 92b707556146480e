"""What opens and what is refused: digests, pins, sizes, other schemas, odd files and places."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from conftest import ROWS, row, write_projection

from secondbrain.digests import sha256_file
from secondbrain.errors import DeadlineExceeded, SecondBrainError, StoreIntegrityError
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.retrieval.retrieve import retrieve
from secondbrain.store import opened, schema
from secondbrain.store.build import build
from secondbrain.store.opened import Store, open_snapshot
from secondbrain.store.sidecar import read_sidecar, sidecar, write_sidecar

MakeStore = Callable[..., Store]


def refused(path: Path, match: str, **options: object) -> None:
    with pytest.raises(StoreIntegrityError, match=match):
        open_snapshot(path, **options)  # type: ignore[arg-type]
    context = HybridSecondBrain(Store(path, **options)).context("receipt")  # type: ignore[arg-type]
    assert (context["state"], context["handles"], context["ready"]) == ("UNAVAILABLE", [], False)


def changed_in_a_harmless_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[96:100] = b"\0\0\0\1"  # the version number of the SQLite that wrote last: no check looks at it
    path.write_bytes(content)


# -- the digest beside the file ----------------------------------------------------------------------------


def test_a_file_with_its_digest_opens_by_it(store: Store) -> None:
    snapshot = store.snapshot()
    assert snapshot.integrity == "FILE_DIGEST_MATCHED"
    assert [snapshot.file_sha256] == read_sidecar(store.path)
    assert (snapshot.chunk_count, snapshot.sources) == (6, {"doc": 4, "note": 2})


def test_a_file_that_differs_from_its_digest_is_refused(store: Store) -> None:
    changed_in_a_harmless_byte(store.path)
    refused(
        store.path, "does not match the digest beside it; run `secondbrain verify` on it, then build it anew"
    )


def test_a_file_without_a_digest_is_audited_in_full(store: Store) -> None:
    sidecar(store.path).unlink()
    assert open_snapshot(store.path).integrity == "VERIFIED_IN_FULL"


def test_a_damaged_file_without_a_digest_is_refused_by_the_check_that_found_it(store: Store) -> None:
    sidecar(store.path).unlink()
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('delete-all')")
    refused(store.path, "fails its audit: index: ")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"0" * 64,
        b"0" * 64 + b"  other.db\n",
        b"Z" * 64 + b"  store-1.db\n",
        b"0" * 63 + b"  store-1.db\n",
        b"0" * 64 + b" *store-1.db\n",
        b"\xff" * 64 + b"  store-1.db\n",
        (b"0" * 64 + b"  store-1.db\n") * 3,
        (b"0" * 64 + b"  store-1.db\n") + b"\n",
        b"0" * 5000,
    ],
)
def test_a_digest_file_in_another_form_is_refused(store: Store, content: bytes) -> None:
    sidecar(store.path).write_bytes(content)
    refused(store.path, r"store-1\.db\.sha256: is no digest of store-1\.db; build the file anew")


def test_a_digest_file_that_cannot_be_read_is_refused_and_a_build_says_why(
    store: Store, tmp_path: Path
) -> None:
    sidecar(store.path).unlink()
    sidecar(store.path).mkdir()
    refused(store.path, "cannot be read: Is a directory; build the file anew")
    with pytest.raises(StoreIntegrityError, match="nothing was replaced"):
        build(tmp_path / "projection-1.jsonl", store.path)


def test_either_of_two_digests_opens_a_file_that_is_being_replaced(store: Store) -> None:
    whole = sha256_file(store.path)
    for digests in ([whole, "0" * 64], ["0" * 64, whole]):
        write_sidecar(store.path, digests)
        assert open_snapshot(store.path).file_sha256 == whole
    write_sidecar(store.path, ["0" * 64, "1" * 64])
    refused(store.path, "does not match the digest beside it")


@pytest.mark.parametrize(
    "name", ["a b%20c?mode=rw#x.db", "文書.db", "zwei\nzeilen.db", b"\xff\xfe.db", "'\";--.db"]
)
def test_any_name_of_a_file_works(tmp_path: Path, name: str | bytes) -> None:
    folder = tmp_path / "100% of it? #1"
    folder.mkdir()
    out = folder / os.fsdecode(name)
    built = build(write_projection(tmp_path / "p.jsonl", ROWS), out)
    assert open_snapshot(out).file_sha256 == built.file_sha256
    assert retrieve("receipt", store=Store(out))["ready"]
    assert build(tmp_path / "p.jsonl", out) == built


# -- pins --------------------------------------------------------------------------------------------------


def test_a_pin_is_compared_with_the_bytes(store: Store) -> None:
    whole = sha256_file(store.path)
    assert open_snapshot(store.path, pin=whole).file_sha256 == whole
    refused(store.path, f"its SHA-256 is {whole}, pinned is {'0' * 64}", pin="0" * 64)


def test_a_pin_holds_at_every_size(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "FULL_DIGEST_BYTES", 0)
    refused(store.path, "pinned is", pin="0" * 64)


# -- above 64 MiB ------------------------------------------------------------------------------------------


def test_a_large_file_is_compared_on_request_only(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    changed_in_a_harmless_byte(store.path)
    monkeypatch.setattr(opened, "FULL_DIGEST_BYTES", store.path.stat().st_size)
    refused(store.path, "does not match the digest beside it")
    monkeypatch.setattr(opened, "FULL_DIGEST_BYTES", store.path.stat().st_size - 1)
    snapshot = open_snapshot(store.path)
    assert (snapshot.integrity, snapshot.file_sha256) == ("SIZE_AND_SCHEMA_ONLY", None)
    refused(store.path, "does not match the digest beside it", full_digest=True)


def test_a_large_file_without_a_digest_is_still_audited(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "FULL_DIGEST_BYTES", 0)
    sidecar(store.path).unlink()
    assert open_snapshot(store.path).integrity == "VERIFIED_IN_FULL"


def test_the_bound_is_64_mebibytes() -> None:
    assert opened.FULL_DIGEST_BYTES == 64 * 2**20


# -- other files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("by", "age"), [(-1, "older"), (1, "newer")])
@pytest.mark.parametrize("size_rule", ["small", "large"])
@pytest.mark.parametrize("with_digest", [True, False])
def test_a_file_of_another_schema_is_refused_by_name_with_the_command_that_rebuilds_it(
    store: Store, by: int, age: str, size_rule: str, with_digest: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = schema.schema_version() + by
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    if with_digest:
        write_sidecar(store.path, [sha256_file(store.path)])
    else:
        sidecar(store.path).unlink()
    if size_rule == "large":
        monkeypatch.setattr(opened, "FULL_DIGEST_BYTES", 0)
    refused(
        store.path,
        f"has schema {version}, {age} than this program's {schema.schema_version()}; build it anew: "
        f"secondbrain build --corpus PROJECTION.jsonl -o {store.path}",
    )


@pytest.mark.parametrize("content", [b"", b"x", b"SQLite format 3\0", b"no database\n" * 1000, b"\0" * 8192])
@pytest.mark.parametrize("with_digest", [True, False])
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes, with_digest: bool) -> None:
    path = tmp_path / "other.db"
    path.write_bytes(content)
    if with_digest:
        write_sidecar(path, [sha256_file(path)])
    refused(path, "is no Second Brain database; build one with `secondbrain build`")


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE chunk (text)")
    refused(path, "is no Second Brain database")


def test_a_database_that_only_claims_to_be_ours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {schema.schema_version()}")
        connection.execute("CREATE TABLE chunk (text)")
    refused(path, "fails its audit: inventory: ")
    write_sidecar(path, [sha256_file(path)])
    refused(path, r"is damaged \(SQLError\)")


def test_a_file_without_a_generation_is_refused(store: Store) -> None:
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("DROP TRIGGER generation_sealed_delete")
        connection.execute("DELETE FROM generation")
    write_sidecar(store.path, [sha256_file(store.path)])
    refused(store.path, "holds 0 generations, not one; build it anew")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE generation SET rows_sha256 = {value}",
        "UPDATE generation SET chunk_count = {value}",
        "UPDATE alias SET term = {value}",
        "UPDATE chunk SET source = {value} WHERE ordinal = 1",
        "UPDATE chunk SET title = {value}",
        "UPDATE chunk SET text = {value}",
        "UPDATE chunk SET node_id = {value} WHERE ordinal = 1",
        "UPDATE chunk SET sha256 = {value}",
        "UPDATE term SET chunks = {value}",
        "DELETE FROM chunk WHERE ordinal = 1",
    ],
)
@pytest.mark.parametrize("value", ["NULL", "x'ff'", "CAST(x'ff' AS TEXT)", "-1", "'none'"])
def test_a_value_that_its_column_does_not_allow_raises_nothing_outside_our_tree(
    store: Store, statement: str, value: str
) -> None:
    """As in a page that was changed behind SQLite's back; here with a digest that agrees."""
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT', ''), 'NOT NULL', '')"
            " WHERE name IN ('generation', 'alias', 'chunk')"
        )
    with (
        closing(sqlite3.connect(store.path, isolation_level=None)) as connection,
        suppress(sqlite3.IntegrityError),
    ):
        connection.execute(statement.format(value=value))
    write_sidecar(store.path, [sha256_file(store.path)])
    with suppress(SecondBrainError):
        HybridSecondBrain(Store(store.path)).context("receipt chain lambda ledger")
    with suppress(SecondBrainError):
        retrieve("receipt chain lambda ledger", store=Store(store.path))


def test_a_schema_that_runs_for_ever_does_not_hold_up_the_opening(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "OPENING_DEADLINE", 0.2)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        connection.executescript(
            "DROP TABLE alias; CREATE VIEW alias AS"
            " WITH RECURSIVE n(row) AS (SELECT 1 UNION ALL SELECT row + 1 FROM n)"
            " SELECT row, 'a' AS term, 'b' AS same_as FROM n WHERE row < 0"
        )
    write_sidecar(store.path, [sha256_file(store.path)])
    refused(store.path, "did not say within 0 s what it holds")


def test_a_missing_file_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    refused(
        tmp_path / "nothing.db",
        "cannot be opened: No such file or directory; build it with `secondbrain build`",
    )
    refused(tmp_path, "is no file; name a database that `secondbrain build` made")
    os.mkfifo(tmp_path / "pipe.db")
    refused(tmp_path / "pipe.db", "is no file")
    refused(Path("/dev/null"), "is no file")


def test_a_file_whose_bytes_cannot_be_read_is_refused() -> None:
    """A file of this process's memory: it opens, and reading fails, for root too."""
    refused(Path("/proc/self/mem"), "cannot be read: Input/output error")


# -- other places ------------------------------------------------------------------------------------------


def test_a_file_opens_from_a_read_only_folder_and_leaves_nothing_there(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "read-only"
    folder.mkdir()
    path = Path(shutil.copy(store.path, folder / "s.db"))
    path.chmod(0o444)
    folder.chmod(0o555)
    child = os.fork()
    if child == 0:  # permissions bind others than root only
        code = 1
        try:
            if os.getuid() == 0:
                tmp_path.chmod(0o755)
                os.setgid(65534)
                os.setuid(65534)
            code = 0 if _answers_and_cannot_write(folder / "s.db") else 2
        finally:
            os._exit(code)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o755)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    folder.chmod(0o755)
    assert [one.name for one in folder.iterdir()] == ["s.db"]


def _answers_and_cannot_write(path: Path) -> bool:
    import time

    until = time.monotonic() + 5
    while not os.access(path, os.R_OK) and time.monotonic() < until:
        time.sleep(0.01)
    writable = os.access(path.parent, os.W_OK)
    return not writable and bool(retrieve("receipt", store=Store(path))["ready"])


def test_a_symlink_opens_what_it_points_to_and_follows_it(make_store: MakeStore, tmp_path: Path) -> None:
    first, second = make_store(), make_store([row("x:1", "Another generation with a receipt.")])
    link = tmp_path / "current.db"
    link.symlink_to(first.path)
    store = Store(link)
    assert store.snapshot().generation_sha256 == first.snapshot().generation_sha256
    assert store.snapshot().integrity == "VERIFIED_IN_FULL"  # the digest lies beside the file, not the link
    link.unlink()
    link.symlink_to(second.path)
    assert store.snapshot().generation_sha256 == second.snapshot().generation_sha256
    link.unlink()
    link.symlink_to(link)
    refused(link, "cannot be opened: Too many levels of symbolic links")


def test_a_store_stays_with_its_file_when_the_process_changes_its_folder(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(store.path.parent)
    relative = Store(store.path.name)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert relative.snapshot().generation_sha256 == store.snapshot().generation_sha256


# -- time --------------------------------------------------------------------------------------------------


def test_a_search_that_takes_longer_than_its_time_is_ended(make_store: MakeStore) -> None:
    built = make_store(row(f"x:{n:05}", "the same words in every row of it " * 3) for n in range(8000))
    hurried = Store(built.path, deadline=0.0)
    with pytest.raises(DeadlineExceeded, match="took longer than its time"):
        retrieve("same words every row", store=hurried)
    with pytest.raises(DeadlineExceeded):
        HybridSecondBrain(hurried).context("same words every row")
    assert retrieve("same words every row", store=built)["ready"]


def test_every_request_has_its_full_time(make_store: MakeStore) -> None:
    store = make_store()
    reader = store.reader()
    reader._deadline._end = 0.0
    assert store.reader() is reader
    assert reader._deadline._end > 0.0
