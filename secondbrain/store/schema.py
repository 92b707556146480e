"""The schema: numbered SQL steps, applied in order, and what a file of them looks like."""

import sqlite3
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from secondbrain import resources

APPLICATION_ID = 0x535A4C42
"""``SZLB`` in ASCII, at byte 68 of the file: what ``file`` and SQLite call the application id."""
SEAL = "0007_seal"
"""The step that is applied last, when every row is in place."""


class Header(NamedTuple):
    """What the first bytes of an SQLite file say."""

    rollback_journal: bool
    """False where the shell would read a write-ahead log beside the file."""
    user_version: int
    application_id: int


class Step(NamedTuple):
    """One numbered step of the schema."""

    number: int
    name: str
    sql: str


@cache
def steps() -> tuple[Step, ...]:
    """Return the schema's steps in order; their numbers are 1, 2, 3 …"""
    files = sorted(resources.migrations_folder().glob("[0-9]*.sql"))
    return tuple(Step(int(file.stem[:4]), file.stem, file.read_text(encoding="utf-8")) for file in files)


def schema_version() -> int:
    """Return the number of the last step, which every file of this schema carries as ``user_version``."""
    return steps()[-1].number


def read_header(path: Path) -> Header | None:
    """Return the header of an SQLite file; None for any other file. OSError where it cannot be read."""
    with path.open("rb") as stream:
        head = stream.read(100)
    if len(head) < 100 or not head.startswith(b"SQLite format 3\0"):
        return None
    return Header(
        head[18:20] == b"\1\1", int.from_bytes(head[60:64], "big"), int.from_bytes(head[68:72], "big")
    )


def statements(sql: str) -> Iterator[str]:
    """Yield the single statements of a script; a trigger's body stays whole."""
    statement = ""
    for line in sql.split("\n"):
        if not statement and (not line.strip() or line.startswith("--")):
            continue
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""
