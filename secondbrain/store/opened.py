"""An opened file: one checked generation of it, and readers bound to that generation.

The rules:

 1. A file opens only if it is what it was when it was built: its bytes match the digest beside it;
    without one it is audited in full; above FULL_DIGEST_BYTES the bytes are compared on request only.
 2. A pin, where given, is compared with the bytes of the file whatever its size.
 3. A file of another schema version is refused by name.
 4. A request works on one reader and so on one generation. A file that was replaced is noticed at the
    next request (inode, size, times) and opened as a whole new generation.
 5. Connections are never shared: each thread, and each process after a fork, has its own.

What may be shared: a Store over threads and asyncio tasks, and over a fork that happens before threads
search. A Reader never: ask the
store for one in the thread that uses it, for one request.
"""

import os
import stat
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NamedTuple, cast

import apsw

from secondbrain.digests import sha256_file
from secondbrain.errors import DeadlineExceeded, SecondBrainError, StoreIntegrityError
from secondbrain.resources import statement
from secondbrain.store import schema
from secondbrain.store.connect import DEADLINE, Deadline, open_reader
from secondbrain.store.sidecar import read_sidecar
from secondbrain.text import TOKENIZER, prepared

FULL_DIGEST_BYTES = 64 * 1024 * 1024
"""Largest file whose bytes are always compared when it is opened: about 40 ms."""
OPENING_DEADLINE = 10.0
"""Seconds in which a file answers what it holds: each row's source is read, from a cold disk perhaps."""
_CHUNKS_KEPT = 1024
_REMEDY = "run `secondbrain verify` on it, then build it anew"

Integrity = Literal["FILE_DIGEST_MATCHED", "VERIFIED_IN_FULL", "SIZE_AND_SCHEMA_ONLY"]


class Identity(NamedTuple):
    """What tells one file from the next under the same name; the change time is nobody's to set."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


@dataclass(frozen=True)
class Snapshot:
    """One checked generation of a file."""

    path: Path
    identity: Identity
    integrity: Integrity
    file_sha256: str | None
    sources: dict[str, int]
    """Source → number of chunks, in the order of names."""
    aliases: tuple[tuple[int, str, str], ...]
    """(row, term, same as)."""
    generation_sha256: str
    rows_sha256: str
    index_sha256: str
    aliases_sha256: str
    frontier_sha256: str | None
    chunk_count: int
    candidate_count: int


class Reader:
    """One thread's connection to one generation. Not to be shared, not to be kept."""

    def __init__(self, snapshot: Snapshot, deadline: float = DEADLINE) -> None:
        self.snapshot = snapshot
        self._connection = open_reader(snapshot.path)
        self._deadline = Deadline(self._connection, deadline)
        self._tokenizer = self._connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
        self.words_of_chunk = lru_cache(maxsize=_CHUNKS_KEPT)(self._words_of_chunk)
        self.handle_row = lru_cache(maxsize=_CHUNKS_KEPT)(self._handle_row)
        self.tokens = lru_cache(maxsize=4096)(self._tokens)
        self.memo: dict[str, Any] = {}
        """What a room above worked out of this generation, by name."""

    def restart_deadline(self) -> None:
        """Give the next request its full time."""
        self._deadline.restart()

    def rows(self, name: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a named statement to its end.

        Raises DeadlineExceeded where it takes too long, StoreIntegrityError where the file turns out
        to be damaged.
        """
        try:
            return self._connection.execute(statement(name), parameters).fetchall()
        except (apsw.Error, UnicodeDecodeError) as error:
            overdue = DeadlineExceeded("the search took longer than its time; ask for less at once")
            failure = _named(self.snapshot.path, error, overdue)
        raise failure  # outside the handler: what is damaged hangs on Python's own error, text included

    def row(self, name: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Run a named statement that gives one row, and return it.

        Raises as :meth:`rows`, and StoreIntegrityError where the row that an index named is not there.
        """
        found = self.rows(name, parameters)
        if len(found) != 1:
            raise StoreIntegrityError(
                f"{self.snapshot.path}: is damaged: {name} finds {len(found)} rows; {_REMEDY}"
            )
        return found[0]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold one read transaction over several statements."""
        with self._connection:
            yield

    def _tokens(self, unit: str) -> tuple[str, ...]:
        """Return the words that the index makes of a prepared unit."""
        tokens = self._tokenizer(
            unit.encode("utf-8"),
            apsw.FTS5_TOKENIZE_DOCUMENT,
            None,
            include_offsets=False,
            include_colocated=False,
        )
        return tuple(cast("list[str]", tokens))

    def _words_of_chunk(self, ordinal: int) -> frozenset[str]:
        """Return the distinct index words of a chunk's title and text."""
        title, text = self.row("read/title_and_text", (ordinal,))
        _check_kinds(self.snapshot.path, [(title, text)], (str, str))
        return frozenset(self._tokens(f"{prepared(title)}\n{prepared(text)}"))

    def _handle_row(self, ordinal: int) -> tuple[Any, ...]:
        """Return node id, source, source id, note and digest of a chunk; a generation never changes them."""
        return self.row("read/handle", (ordinal,))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class Store:
    """A built file, followed over replacements. Safe to share over threads and tasks.

    After a fork the child opens connections of its own; fork before threads search, as SQLite's own
    locks do not survive a fork in the middle of a call.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        pin: str | None = None,
        full_digest: bool = False,
        deadline: float = DEADLINE,
    ) -> None:
        """Name a file; it is opened and checked with the first reader.

        ``pin`` is the SHA-256 that the file's bytes must have; ``full_digest`` compares the digest
        beside the file also above 64 MiB; ``deadline`` is the seconds one request's statements may take.
        """
        self.path = Path(path).absolute()
        self._pin = pin
        self._full_digest = full_digest
        self._deadline = deadline
        self._snapshot: Snapshot | None = None
        self._lock = threading.Lock()
        self._local = threading.local()
        _followed.add(self)

    def snapshot(self) -> Snapshot:
        """Return the current generation, opened and checked where it is new.

        Raises StoreIntegrityError for a file that is missing or fails its check.
        """
        identity = identity_of(self.path)
        snapshot = self._snapshot
        if snapshot is None or snapshot.identity != identity:
            with self._lock:
                snapshot = self._snapshot
                if snapshot is None or snapshot.identity != identity:
                    self._snapshot = None
                    snapshot = self._snapshot = open_snapshot(
                        self.path, pin=self._pin, full_digest=self._full_digest
                    )
        return snapshot

    def reader(self) -> Reader:
        """Return this thread's reader of the current generation, with its full time.

        Raises StoreIntegrityError as :meth:`snapshot` does.
        """
        snapshot = self.snapshot()
        owner = os.getpid()
        reader: Reader | None = getattr(self._local, "reader", None)
        if reader is not None and reader.snapshot is snapshot and self._local.owner == owner:
            reader.restart_deadline()
            return reader
        reader = Reader(snapshot, self._deadline)
        if identity_of(self.path) != snapshot.identity:
            # Replaced between check and opening: the connection may see bytes that were not checked.
            reader.close()
            return self.reader()
        self._local.reader, self._local.owner = reader, owner
        return reader


_followed: "weakref.WeakSet[Store]" = weakref.WeakSet()


def _renew_locks() -> None:
    # A thread that held one while the process forked is not there to let it go.
    for store in _followed:
        store._lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_locks)


def open_snapshot(path: Path, *, pin: str | None = None, full_digest: bool = False) -> Snapshot:
    """Check a file by rules 1 to 3 and read what it is known by.

    Raises StoreIntegrityError that says what failed and what to do.
    """
    while True:
        before = _state(path)
        try:
            snapshot = _opened(path, before, pin, full_digest)
        except StoreIntegrityError:
            # A builder renames the file between two changes of its digest: read half of each, they disagree.
            if _state(path) == before:
                raise
        else:
            if identity_of(path) == snapshot.identity:
                return snapshot


def _state(path: Path) -> tuple[Identity, list[str]]:
    """Return which file lies there, and the digests beside it."""
    return identity_of(path), read_sidecar(path)


def _opened(path: Path, state: tuple[Identity, list[str]], pin: str | None, full_digest: bool) -> Snapshot:
    identity, digests = state
    integrity, file_sha256 = _checked(path, identity.size, digests, pin, full_digest)
    overdue = StoreIntegrityError(
        f"{path}: did not say within {OPENING_DEADLINE:.0f} s what it holds; build it anew"
    )
    with _damage_named(path, overdue), closing(open_reader(path)) as connection:
        Deadline(connection, OPENING_DEADLINE)
        generations: list[Any] = connection.execute(statement("read/generation")).fetchall()
        sources: list[Any] = connection.execute(statement("read/source_counts")).fetchall()
        aliases: list[Any] = connection.execute(statement("read/aliases")).fetchall()
    if len(generations) != 1:
        raise StoreIntegrityError(f"{path}: holds {len(generations)} generations, not one; build it anew")
    _check_kinds(path, generations, (str, str, str, str, (str, NoneType), int, int))
    _check_kinds(path, sources, (str, int))
    _check_kinds(path, aliases, (int, str, str))
    snapshot = Snapshot(
        path, identity, integrity, file_sha256, dict(sources), tuple(aliases), *generations[0]
    )
    if snapshot.chunk_count != sum(snapshot.sources.values()):
        raise StoreIntegrityError(f"{path}: is damaged: it has not as many chunks as it says; {_REMEDY}")
    return snapshot


def _check_kinds(path: Path, rows: Iterable[Sequence[Any]], kinds: Sequence[Any]) -> None:
    # When SQLite reads, it does not hold stored values to the types of their columns.
    for row in rows:
        if not all(map(isinstance, row, kinds)):
            raise StoreIntegrityError(
                f"{path}: is damaged: a value is not of the type of its column; {_REMEDY}"
            )


def identity_of(path: Path) -> Identity:
    """Say which file lies at a path; StoreIntegrityError where none does."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise StoreIntegrityError(
            f"{path}: cannot be opened: {error.strerror}; build it with `secondbrain build`"
        ) from None
    if not stat.S_ISREG(found.st_mode):
        raise StoreIntegrityError(f"{path}: is no file; name a database that `secondbrain build` made")
    return Identity(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _checked(
    path: Path, size: int, digests: list[str], pin: str | None, full_digest: bool
) -> tuple[Integrity, str | None]:
    if size > FULL_DIGEST_BYTES and digests and not full_digest and pin is None:
        _refuse_other_schema(path)
        return "SIZE_AND_SCHEMA_ONLY", None
    try:
        found = sha256_file(path)
    except OSError as error:
        raise StoreIntegrityError(f"{path}: cannot be read: {error.strerror}") from None
    if pin is not None and found != pin:
        raise StoreIntegrityError(f"{path}: its SHA-256 is {found}, pinned is {pin}")
    if digests and found not in digests:
        raise StoreIntegrityError(f"{path}: does not match the digest beside it; {_REMEDY}")
    _refuse_other_schema(path)
    if digests:
        return "FILE_DIGEST_MATCHED", found
    # Only here: the audit costs a hundred times the digest, and the search path does without it.
    from secondbrain.store.verify import verify_file

    if findings := verify_file(path).findings:
        raise StoreIntegrityError(f"{path}: fails its audit: {findings[0]['check']}: {findings[0]['detail']}")
    return "VERIFIED_IN_FULL", found


def _refuse_other_schema(path: Path) -> None:
    header = schema.read_header(path)
    if header is None or header.application_id != schema.APPLICATION_ID:
        raise StoreIntegrityError(f"{path}: is no Second Brain database; build one with `secondbrain build`")
    found, wanted = header.user_version, schema.schema_version()
    if found != wanted:
        age = "older" if found < wanted else "newer"
        raise StoreIntegrityError(
            f"{path}: has schema {found}, {age} than this program's {wanted}; build it anew: "
            f"secondbrain build --corpus PROJECTION.jsonl -o {path}"
        )


@contextmanager
def _damage_named(path: Path, overdue: SecondBrainError) -> Iterator[None]:
    """Turn what a damaged or alien file makes SQLite and Python say into one error of ours."""
    try:
        yield
    except (apsw.Error, UnicodeDecodeError) as error:
        raise _named(path, error, overdue) from None


def _named(path: Path, error: Exception, overdue: SecondBrainError) -> SecondBrainError:
    if isinstance(error, apsw.InterruptError):
        return overdue
    return StoreIntegrityError(f"{path}: is damaged ({type(error).__name__}); {_REMEDY}")
