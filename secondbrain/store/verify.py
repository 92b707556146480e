"""The audit of a file: what a shell, a disk or an editor could have changed without a row digest failing.

The rules, each one check, in the order in which they run:

 1. file-digest        the bytes match the digest beside the file, where there is one
 2. schema-version     application id and schema version are this program's, the journal mode the builder's
 3. integrity          SQLite finds every page, index and constraint in order
 4. inventory          tables, indexes, triggers and views are exactly those of the schema: a shell
                       can drop a trigger, edit a row, and put the trigger back or leave it out
 5. row-digest         every text has the SHA-256 that its row states; so has every candidate
 6. rows-digest        all columns of all chunks, in order, have the stated digest
 7. order              ordinals run 1, 2, 3 … in the order of node ids, positions 0, 1, 2 …
 8. generation         one generation row, with a digest and the count of chunks that there are
 9. index              every word of the index, its lengths and settings, is what an index rebuilt
                       from the rows holds, has the stated digest, and is found by a search
10. terms              the table of word counts agrees with the index
11. aliases            the aliases have the stated digest
12. frontier           the candidates have the state's set digest, the state its own, and the state,
                       sources and locked set agree with the rows, each row with its source

What it cannot know: whether the rows are those of a projection that somebody trusts. A pin on the
file's or the projection's digest says that. A damaged file is reported, never healed.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import apsw

from secondbrain import wire
from secondbrain.digests import is_sha256, sha256_file, sha256_text
from secondbrain.errors import StoreIntegrityError
from secondbrain.projection.aliases import aliases_sha256
from secondbrain.resources import statement
from secondbrain.store import digest, schema
from secondbrain.store.candidates import frontier_findings
from secondbrain.store.connect import Deadline, open_for_audit
from secondbrain.store.sidecar import read_sidecar, sidecar
from secondbrain.text import prepared

LEAST_SECONDS = 30.0
LEAST_BYTES_A_SECOND = 1024 * 1024
"""An audit that takes longer than these allow is stuck in an alien schema: a view can run for ever."""


@dataclass
class Audit:
    """One file under audit: its connection, and what was found."""

    path: Path
    header: schema.Header
    connection: apsw.Connection
    reference: apsw.Connection
    """A temporary database of the same schema, to hold the file against."""
    check_sidecar: bool = True
    findings: list[wire.Finding] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    generation_sha256: str | None = None
    """The generation that the file states, where it can be read."""

    def query(self, name: str) -> Iterator[tuple[Any, ...]]:
        """Run a named statement on the file."""
        return self.connection.execute(statement(name))

    def generation(self, column: str) -> Any:
        """Return a column of the generation row; None without that row."""
        return next((row[column] for row in _mappings(self.query("verify/generation"))), None)


Check = Callable[[Audit], Iterator[str]]


def file_digest(audit: Audit) -> Iterator[str]:
    if (
        audit.check_sidecar
        and (digests := read_sidecar(audit.path))
        and sha256_file(audit.path) not in digests
    ):
        yield "the file's SHA-256 is not the one beside it"


def schema_version(audit: Audit) -> Iterator[str]:
    header = audit.header
    if header.application_id != schema.APPLICATION_ID:
        yield f"application id is {header.application_id}, not {schema.APPLICATION_ID}"
    if header.user_version != schema.schema_version():
        yield f"schema version is {header.user_version}, not {schema.schema_version()}"
    if not header.rollback_journal:
        yield "the file is in WAL mode: a shell would read the log beside it too"


def integrity(audit: Audit) -> Iterator[str]:
    for (line,) in audit.connection.execute("PRAGMA integrity_check(5)"):
        if line != "ok":
            yield " ".join(str(line).split())


def inventory(audit: Audit) -> Iterator[str]:
    here = dict(_inventory(audit.connection))
    there = dict(_inventory(audit.reference))
    for name in sorted(there.keys() - here.keys()):
        yield f"{name} is missing"
    for name in sorted(here.keys() - there.keys()):
        yield f"{name} is not of the schema"
    for name in sorted(name for name in here.keys() & there.keys() if here[name] != there[name]):
        yield f"{name} differs from the schema"


def row_digest(audit: Audit) -> Iterator[str]:
    for name in ("verify/chunk_digests", "verify/candidate_digests"):
        for node_id, text, stated in audit.query(name):
            if sha256_text(text) != stated:
                yield f"the text of {node_id!r} does not have its digest"


def rows_digest(audit: Audit) -> Iterator[str]:
    if digest.rows_sha256(audit.query("verify/rows")) != audit.generation("rows_sha256"):
        yield "the rows do not have the stated digest"


def order(audit: Audit) -> Iterator[str]:
    for name in ("verify/ordinal_order", "verify/position_order"):
        for (detail,) in audit.query(name):
            yield detail


def generation(audit: Audit) -> Iterator[str]:
    counts = [row["chunk_count"] for row in _mappings(audit.query("verify/generation"))]
    [(chunks,)] = audit.query("verify/count")
    if counts != [chunks]:
        yield f"{len(counts)} generation rows, stating {counts} chunks; there are {chunks}"
    if not is_sha256(audit.generation("generation_sha256")):
        yield "the generation is no SHA-256"


def index(audit: Audit) -> Iterator[str]:
    for name, stated in (("chunk", "index_sha256"), ("frontier", "frontier_index_sha256")):
        insert = statement("build/index_chunk" if name == "chunk" else "build/index_candidate")
        texts = audit.query("read/texts" if name == "chunk" else "verify/candidate_texts")
        with audit.reference:
            audit.reference.executemany(
                insert, ((n, prepared(title), prepared(text)) for n, title, text in texts)
            )
        for connection in (audit.connection, audit.reference):
            connection.execute(statement(f"verify/{name}_places"))
        found = digest.index_sha256(audit.query(f"verify/{name}_index_places"))
        rebuilt = digest.index_sha256(audit.reference.execute(statement(f"verify/{name}_index_places")))
        if found != rebuilt:
            yield f"{name}_fts does not hold the words of its rows"
        if found != audit.generation(stated):
            yield f"{name}_fts does not have the stated digest"
        audit.connection.execute(statement(f"verify/{name}_words"))
        [(lost,)] = audit.query(f"verify/{name}_lost_words")
        if lost:
            yield f"{lost} words of {name}_fts are not found by a search"
        # Lengths and averages weigh in bm25() and stand in no word of the index; so do stored settings.
        for part in ("lengths", "averages", "settings"):
            query = statement(f"verify/{name}_{part}")
            here, there = audit.connection.execute(query), audit.reference.execute(query)
            if any(row != wanted for row, wanted in zip_longest(here, there)):
                yield f"the {part} of {name}_fts are not those of its rows"


def terms(audit: Audit) -> Iterator[str]:
    audit.connection.execute(statement("build/term_vocabulary"))
    for (count,) in audit.query("verify/term_differences"):
        if count:
            yield f"{count} rows of the table of word counts disagree with the index"


def aliases(audit: Audit) -> Iterator[str]:
    if aliases_sha256(audit.query("verify/aliases")) != audit.generation("aliases_sha256"):
        yield "the aliases do not have the stated digest"


def frontier(audit: Audit) -> Iterator[str]:
    yield from frontier_findings(audit.query, audit.generation("frontier_sha256"))


CHECKS: tuple[tuple[str, Check], ...] = (
    ("file-digest", file_digest),
    ("schema-version", schema_version),
    ("integrity", integrity),
    ("inventory", inventory),
    ("row-digest", row_digest),
    ("rows-digest", rows_digest),
    ("order", order),
    ("generation", generation),
    ("index", index),
    ("terms", terms),
    ("aliases", aliases),
    ("frontier", frontier),
)


def verify_file(path: Path, *, check_sidecar: bool = True) -> Audit:
    """Run every check on a file; the audit's ``findings`` are empty where all holds.

    Raises StoreIntegrityError where the audit cannot run: the file is missing, SQLite cannot open it, or
    there is no room for temporary files.
    """
    if not path.is_file():
        raise StoreIntegrityError(f"{path}: no such file")
    if (header := schema.read_header(path)) is None:
        raise StoreIntegrityError(f"{path}: is no SQLite database, so there is nothing to audit")
    audit = Audit(path, header, open_for_audit(path), _reference(), check_sidecar)
    Deadline(audit.connection, LEAST_SECONDS + path.stat().st_size / LEAST_BYTES_A_SECOND)
    try:
        for name, check in CHECKS:
            if name != "file-digest" or (check_sidecar and sidecar(path).exists()):
                audit.checked.append(name)
            try:
                audit.findings.extend({"check": name, "detail": detail} for detail in check(audit))
            except apsw.FullError:
                raise StoreIntegrityError(
                    f"{path}: cannot be audited: no room for temporary files; free some, or set TMPDIR"
                ) from None
            except Exception as error:
                # A damaged page, an alien schema, a value of another type, text that is no Unicode: whatever
                # it makes SQLite and Python say, the check cannot run, and that is the finding.
                detail = f"the check cannot run: {type(error).__name__}"
                audit.findings.append({"check": name, "detail": detail})
        with suppress(Exception):
            stated = audit.generation("generation_sha256")
            audit.generation_sha256 = stated if is_sha256(stated) else None
    finally:
        audit.connection.close()
        audit.reference.close()
    return audit


def verification(audit: Audit) -> wire.Verification:
    """Return the payload of an audit."""
    return {
        "schema": "szl.second-brain.verification/v1",
        "subject": "STORE",
        "state": "FAILED" if audit.findings else "VERIFIED",
        "ready": not audit.findings,
        "generation_sha256": audit.generation_sha256,
        "findings": audit.findings,
        "checked": audit.checked,
        "not_proven": [
            "that the rows are those of a projection which somebody trusts: "
            "pin the digest of the file or projection",
            "that any text is true",
        ],
    }


def _reference() -> apsw.Connection:
    # A private temporary file: what does not fit into SQLite's cache does not grow this process.
    connection = apsw.Connection("")
    for step in schema.steps():
        for single in schema.statements(step.sql):
            connection.execute(single)
    return connection


def _inventory(connection: apsw.Connection) -> Iterator[tuple[str, str | None]]:
    # What SQLite itself makes (shadow tables, automatic indexes) is known by name alone: its text is
    # that of the SQLite which made the file.
    for kind, name, sql in connection.execute(statement("verify/inventory")):
        own = sql is not None and "_fts_" not in name
        yield f"{kind} {name}", sql if own else None


def _mappings(cursor: Any) -> Iterator[dict[str, Any]]:
    for row in cursor:
        yield dict(zip((column[0] for column in cursor.get_description()), row, strict=True))
