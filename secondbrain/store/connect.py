"""How a finished file is opened: each protection is one named function with its reason.

A reader gets HARDENING, the audit gets AUDIT_HARDENING: it needs temporary tables of its own.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import apsw

from secondbrain.errors import StoreIntegrityError

DEADLINE = 2.0
"""Seconds that one statement of a reader may run."""
_STEPS_BETWEEN_CHECKS = 20_000
_CACHE_KIB = 4096


def query_only(connection: apsw.Connection) -> None:
    """No statement of this connection writes, even where the file's permissions would allow it."""
    connection.pragma("query_only", True)


def distrust_schema(connection: apsw.Connection) -> None:
    """Functions and virtual tables with side effects cannot be reached from a view or trigger."""
    connection.pragma("trusted_schema", False)


def defensive(connection: apsw.Connection) -> None:
    """Plain SQL cannot reach shadow tables or ``writable_schema``."""
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)


def check_cells(connection: apsw.Connection) -> None:
    """A page is checked for its form when it is read: a damaged one is an error, not a wrong answer."""
    connection.pragma("cell_size_check", True)


def no_quoted_strings(connection: apsw.Connection) -> None:
    """A misspelt column in double quotes is an error, not a text."""
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)


def no_extensions(connection: apsw.Connection) -> None:
    """No code is loaded through SQL."""
    connection.enable_load_extension(False)


def low_limits(connection: apsw.Connection) -> None:
    """No attached file, no worker threads, bounded SQL and rows: nothing here needs more."""
    connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
    connection.limit(apsw.SQLITE_LIMIT_WORKER_THREADS, 0)
    connection.limit(apsw.SQLITE_LIMIT_SQL_LENGTH, 64 * 1024)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, 16 * 1024 * 1024)


def small_cache(connection: apsw.Connection) -> None:
    """A connection a thread: each keeps a few megabytes of pages, not SQLite's default of its own."""
    connection.pragma("cache_size", -_CACHE_KIB)
    connection.pragma("temp_store", "memory")


HARDENING: tuple[Callable[[apsw.Connection], None], ...] = (
    distrust_schema,
    defensive,
    check_cells,
    no_quoted_strings,
    no_extensions,
    low_limits,
    small_cache,
    query_only,
)
AUDIT_HARDENING: tuple[Callable[[apsw.Connection], None], ...] = (
    distrust_schema,
    defensive,
    check_cells,
    no_quoted_strings,
    no_extensions,
)


class Deadline:
    """Interrupts a statement that runs longer than its time.

    SQLite calls it back while a statement steps; :meth:`restart` gives the next request its full time.
    """

    def __init__(self, connection: apsw.Connection, seconds: float = DEADLINE) -> None:
        self.seconds = seconds
        self.restart()
        connection.set_progress_handler(self._overdue, _STEPS_BETWEEN_CHECKS)

    def restart(self) -> None:
        """Start the clock anew."""
        self._end = time.monotonic() + self.seconds

    def _overdue(self) -> bool:
        return time.monotonic() > self._end


def open_reader(path: Path) -> apsw.Connection:
    """Open a finished file for reading, hardened.

    Raises StoreIntegrityError where SQLite cannot open it.
    """
    return _open(path, HARDENING)


def open_for_audit(path: Path) -> apsw.Connection:
    """Open a finished file for its audit: read-only, with temporary tables of the audit's own.

    Raises StoreIntegrityError where SQLite cannot open it.
    """
    return _open(path, AUDIT_HARDENING)


def file_address(path: Path) -> str:
    """Return the URI by which SQLite opens a finished file, read-only.

    A finished file never changes in place, a new one replaces it: without locks and journal look-ups
    ("immutable") it also opens on read-only media, and no lock of another SQLite library in this process
    can be dropped.
    """
    return f"file:{quote(os.fsencode(path.resolve()))}?mode=ro&immutable=1"


def _open(path: Path, hardening: tuple[Callable[[apsw.Connection], None], ...]) -> apsw.Connection:
    try:
        connection = apsw.Connection(
            file_address(path), flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        for protect in hardening:
            protect(connection)
    except apsw.Error as error:
        raise StoreIntegrityError(f"{path}: SQLite cannot open it: {error}") from None
    return connection
