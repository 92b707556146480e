"""The build: one function from a projection and a frontier set to a finished file.

The rules:

 1. The file is written under a temporary name in the folder of its final one, audited, synced to
    disk, and renamed. Whatever ends the build earlier, SIGKILL or a full disk, leaves the old file
    and its digest as they were.
 2. ``FILE.sha256`` first names the new digest and the old one, then the file is renamed, then only
    the new digest stays: at every moment the file that is there matches a digest that is there. An old
    file without a digest gets none by this: the new one's is written after the rename.
 3. Nothing in the file depends on the clock, the machine or the folder: the same input gives the same
    bytes with the same SQLite, and the same digests with any.
 4. Rows pass through in a stream; memory does not grow with the texts.
"""

import fcntl
import os
import sqlite3
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from sqlite_utils import Database, Migrations

from secondbrain import wire
from secondbrain.digests import canonical_json, sha256_file, sha256_text
from secondbrain.discovery.state import read_set
from secondbrain.durable import sync_folder
from secondbrain.errors import StoreIntegrityError
from secondbrain.projection.admission import Admission, Admitted
from secondbrain.projection.aliases import Alias, aliases_sha256, read_aliases
from secondbrain.resources import statement
from secondbrain.settings import MAX_BYTES, MAX_ROWS
from secondbrain.store import digest, schema
from secondbrain.store.candidates import SOURCE_COLUMNS
from secondbrain.store.connect import file_address
from secondbrain.store.sidecar import read_sidecar, sidecar, write_sidecar
from secondbrain.store.verify import verify_file
from secondbrain.text import prepared

Progress = Callable[[str, int, int], None]
"""Called with a stage, how much of it is done, and how much there is (0 where unknown)."""


class Built(NamedTuple):
    """What a finished file is known by."""

    path: Path
    file_sha256: str
    generation_sha256: str
    rows_sha256: str
    index_sha256: str
    chunks: int
    candidates: int


def build(
    projection: Path,
    out: Path,
    *,
    frontier: Path | None = None,
    aliases: Path | None = None,
    max_bytes: int = MAX_BYTES,
    max_rows: int = MAX_ROWS,
    progress: Progress = lambda stage, done, total: None,
) -> Built:
    """Build the database of one projection under ``out``, and its digest beside it.

    Raises CorpusIntegrityError for a projection or alias file that is not admitted,
    FrontierIntegrityError for a candidate set that fails its check, StoreIntegrityError where the
    file cannot be written or its own audit finds anything. In each case the old file stays.
    """
    if out.is_dir():
        raise StoreIntegrityError(f"{out}: is a folder; name a file")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{out.name}.", suffix=".building", dir=out.parent)
        os.close(handle)
    except OSError as error:
        raise StoreIntegrityError(f"{out}: cannot be written: {error.strerror}") from None
    temporary = Path(name)
    try:
        _write(temporary, projection, frontier, read_aliases(aliases), max_bytes, max_rows, progress)
        progress("verify", 0, 0)
        if findings := verify_file(temporary, check_sidecar=False).findings:
            raise StoreIntegrityError(
                f"{out}: the new file fails its audit: {findings[0]['check']}; nothing was replaced"
            )
        built = _summary(temporary, out)
        _publish(temporary, out, built.file_sha256)
    except (sqlite3.Error, OSError) as error:
        raise StoreIntegrityError(f"{out}: the build failed and nothing was replaced: {error}") from None
    finally:
        temporary.unlink(missing_ok=True)
        Path(f"{temporary}-journal").unlink(missing_ok=True)
    return built


def _write(
    path: Path,
    projection: Path,
    frontier: Path | None,
    aliases: tuple[Alias, ...],
    max_bytes: int,
    max_rows: int,
    progress: Progress,
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.create_function("sha256", 1, sha256_text, deterministic=True)
        # The file is private until it is renamed: no journal is needed to get back from a crash.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        database = Database(connection)
        migrations = _migrations()
        migrations.apply(database, stop_before=schema.SEAL)
        connection.execute("BEGIN")
        admitted = _insert_chunks(
            connection, Admission(projection, max_bytes=max_bytes, max_rows=max_rows), progress
        )
        _index_chunks(connection, admitted.rows, progress)
        connection.executemany(
            statement("build/insert_alias"), ((row, *alias) for row, alias in enumerate(aliases, 1))
        )
        set_sha256 = _insert_frontier(connection, frontier)
        progress("digest", 0, 0)
        _insert_generation(connection, admitted, set_sha256)
        connection.execute("COMMIT")
        migrations.apply(database)
        # sqlite-utils keeps the time of each migration; user_version says as much without a clock.
        database[Migrations.migrations_table].drop()
        connection.execute(f"PRAGMA user_version = {schema.schema_version()}")
        connection.execute("VACUUM")


def _migrations() -> Migrations:
    migrations = Migrations("secondbrain")
    for step in schema.steps():

        def apply(database: Database, sql: str = step.sql) -> None:
            for single in schema.statements(sql):
                database.conn.execute(single)

        migrations(name=step.name)(apply)
    return migrations


def _insert_chunks(connection: sqlite3.Connection, admission: Admission, progress: Progress) -> Admitted:
    total = admission.path.stat().st_size if admission.path.is_file() else 0

    def rows() -> Iterator[tuple[Any, ...]]:
        for row in admission:
            if row.position % 1000 == 0:
                progress("admit", admission.bytes_read, total)
            yield (
                row.position, row.id, row.source, row.source_id, row.title, row.text, row.sha256,
                row.derived_from,
            )  # fmt: skip

    connection.execute(statement("build/incoming"))
    connection.executemany(statement("build/insert_incoming"), rows())
    connection.execute(statement("build/chunks_from_incoming"))
    connection.execute(statement("build/drop_incoming"))
    return admission.result


def _index_chunks(connection: sqlite3.Connection, total: int, progress: Progress) -> None:
    def rows() -> Iterator[tuple[int, str, str]]:
        for ordinal, title, text in connection.execute(statement("read/texts")):
            if ordinal % 1000 == 0:
                progress("index", ordinal, total)
            yield ordinal, prepared(title), prepared(text)

    connection.executemany(statement("build/index_chunk"), rows())
    progress("optimize", 0, 0)
    connection.execute(statement("build/optimize_chunks"))
    connection.execute(statement("build/term_vocabulary"))
    connection.execute(statement("build/terms_from_vocabulary"))
    connection.execute(statement("build/drop_term_vocabulary"))


def _insert_frontier(connection: sqlite3.Connection, frontier: Path | None) -> str | None:
    connection.executemany(
        statement("build/insert_locked_proven"), ((number,) for number in wire.LOCKED_PROVEN)
    )
    if frontier is None:
        return None
    candidates, state = read_set(frontier)
    connection.execute(statement("build/insert_frontier_state"), (canonical_json(state),))
    source_ids = {}
    for source in sorted(state["sources"], key=lambda source: source["source_id"]):
        source_ids[source["repository"], source["path"]] = source["source_id"]
        connection.execute(
            statement("build/insert_frontier_source"),
            tuple(source[key] for key in SOURCE_COLUMNS),
        )
    for ordinal, row in enumerate(candidates, 1):
        connection.execute(
            statement("build/insert_candidate"),
            (
                ordinal,
                row["id"],
                source_ids[row["source_repository"], row["source_path"]],
                row["source_kind"],
                row["title"],
                row["content"],
                row["content_sha256"],
                row["source_repository"],
                row["source_revision"],
                row["source_path"],
                row["admission"],
                row["candidate_state"],
                row.get("quant_domain"),
                row.get("proof_status"),
                row.get("reported_status"),
            ),
        )
        connection.execute(
            statement("build/index_candidate"), (ordinal, prepared(row["title"]), prepared(row["content"]))
        )
    connection.execute(statement("build/optimize_frontier"))
    return state["candidate_set_sha256"]


def _insert_generation(connection: sqlite3.Connection, admitted: Admitted, set_sha256: str | None) -> None:
    def all_rows(name: str) -> Iterable[tuple[Any, ...]]:
        return connection.execute(statement(name))

    connection.execute(statement("verify/chunk_places"))
    connection.execute(statement("verify/frontier_places"))
    connection.execute(
        statement("build/insert_generation"),
        (
            admitted.generation_sha256,
            digest.rows_sha256(all_rows("verify/rows")),
            admitted.rows,
            aliases_sha256(all_rows("verify/aliases")),
            set_sha256,
            digest.index_sha256(all_rows("verify/chunk_index_places")),
            digest.index_sha256(all_rows("verify/frontier_index_places")),
            sqlite3.sqlite_version,
            version("PyStemmer"),
            unicodedata.unidata_version,
        ),
    )
    connection.execute(statement("build/drop_chunk_places"))
    connection.execute(statement("build/drop_frontier_places"))


def _summary(temporary: Path, out: Path) -> Built:
    with closing(sqlite3.connect(file_address(temporary), uri=True)) as connection:
        generation, rows, index, chunks, candidates = connection.execute(
            statement("build/summary")
        ).fetchone()
    return Built(out, sha256_file(temporary), generation, rows, index, chunks, candidates)


def _publish(temporary: Path, out: Path, file_sha256: str) -> None:
    os.chmod(temporary, 0o644)
    with temporary.open("rb+") as stream:
        os.fsync(stream.fileno())
    with _one_publisher(out.parent):
        # Rule 2. A kill between these steps leaves a file that opens as it did, or as the new one does.
        if not out.exists() or sidecar(out).exists():
            write_sidecar(out, [file_sha256, *_digest_that_holds(out)])
        os.replace(temporary, out)
        try:
            sync_folder(out.parent)
            write_sidecar(out, [file_sha256])
        except OSError as error:
            raise StoreIntegrityError(
                f"{out}: the new file is in place, but the digest beside it could not be finished: {error}"
            ) from None


def _digest_that_holds(out: Path) -> list[str]:
    """Return the digest beside the old file that its bytes have; none where it was refused anyway."""
    try:
        return [digest for digest in read_sidecar(out) if digest == sha256_file(out)]
    except (StoreIntegrityError, FileNotFoundError):
        return []


@contextmanager
def _one_publisher(folder: Path) -> Iterator[None]:
    # Two builders of one name would leave the file of one and the digest of the other.
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
