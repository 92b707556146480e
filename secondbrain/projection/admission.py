"""Strict admission of a JSONL projection: all or nothing, streaming.

The rules, in the order in which a line meets them:

 1. The file is UTF-8 without a byte order mark, and within the bounds of bytes and rows.
 2. A line ends at ``\\n`` (or ``\\r\\n``) only; the last line may lack it; no line is blank.
 3. A line is one JSON object; a key stands once; NaN and infinities are no JSON.
 4. Keys are exactly id, source, title, text, sha256, and optionally sourceId and derived_from.
 5. Values are text that is Unicode (no lone surrogate), without NUL, within their bounds.
 6. id, source, title and text are not blank.
 7. sha256 is the SHA-256 of the text's UTF-8 bytes, 64 lower-case hexadecimal digits; derived_from
    has the same form.
 8. An id stands once in the file.
 9. There is at least one row.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Any, NoReturn

from secondbrain import strict_json
from secondbrain.digests import canonical_json, is_sha256, is_unicode, sha256_bytes
from secondbrain.errors import CorpusIntegrityError
from secondbrain.settings import MAX_BYTES, MAX_ROWS

CHARACTERS = {"id": 512, "source": 4096, "sourceId": 4096, "title": 8192, "text": 128_000}
"""Bound of each field, in characters."""
REQUIRED = frozenset({"id", "source", "title", "text", "sha256"})
OPTIONAL = frozenset({"sourceId", "derived_from"})
# The widest row that rule 5 allows, every character escaped as a surrogate pair, with room for keys.
_LINE_BYTES = 12 * sum(CHARACTERS.values()) + 4096


@dataclass(frozen=True, slots=True)
class Row:
    """One admitted row of a projection; ``position`` counts rows from 0 in file order."""

    position: int
    id: str
    source: str
    source_id: str | None
    title: str
    text: str
    sha256: str
    derived_from: str | None = None

    def payload(self) -> dict[str, str]:
        """Return the row as its JSON object, absent fields left out."""
        row = {
            "id": self.id,
            "source": self.source,
            "title": self.title,
            "text": self.text,
            "sha256": self.sha256,
        }
        if self.source_id is not None:
            row["sourceId"] = self.source_id
        if self.derived_from is not None:
            row["derived_from"] = self.derived_from
        return row


@dataclass(frozen=True, slots=True)
class Admitted:
    """What a whole admitted file is known by."""

    generation_sha256: str
    """SHA-256 of the file's bytes."""
    rows: int
    bytes: int


class Admission:
    """One pass over a projection. Iterate to the end, then read :attr:`result`.

    Rows come out while the file is read, so memory does not grow with the texts. Whoever writes
    rows away keeps them unpublished until iteration has ended: only then is the file admitted.

    Raises CorpusIntegrityError, naming file, line and reason, for any broken rule.
    """

    def __init__(self, path: Path, *, max_bytes: int = MAX_BYTES, max_rows: int = MAX_ROWS) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.max_rows = max_rows
        self.bytes_read = 0
        self._result: Admitted | None = None

    @property
    def result(self) -> Admitted:
        """The digests and counts; only after the last row was read."""
        if self._result is None:
            raise RuntimeError("the projection was not read to its end")
        return self._result

    def __iter__(self) -> Iterator[Row]:
        try:
            stream = self.path.open("rb")
        except OSError as error:
            raise CorpusIntegrityError(f"{self.path}: cannot be read: {error.strerror}") from None
        digest = hashlib.sha256()
        seen: set[str] = set()
        with stream:
            for number, line in enumerate(self._lines(stream), 1):
                digest.update(line)
                row = self._row(number, line)
                if row.id in seen:
                    self._refuse(number, f"id {row.id!r} stands twice")
                seen.add(row.id)
                yield row
        if not seen:
            raise CorpusIntegrityError(f"{self.path}: the projection is empty: it needs at least one row")
        self._result = Admitted(digest.hexdigest(), len(seen), self.bytes_read)

    def _lines(self, stream: BufferedIOBase) -> Iterator[bytes]:
        number = 0
        while line := self._line(stream):
            number += 1
            self.bytes_read += len(line)
            if self.bytes_read > self.max_bytes:
                self._refuse(number, f"the file is larger than {self.max_bytes} bytes (--max-bytes)")
            if number > self.max_rows:
                self._refuse(number, f"the file has more than {self.max_rows} rows (--max-rows)")
            if len(line) > _LINE_BYTES:
                self._refuse(number, f"the line is longer than {_LINE_BYTES} bytes")
            yield line

    def _line(self, stream: BufferedIOBase) -> bytes:
        try:
            return stream.readline(_LINE_BYTES + 1)
        except OSError as error:
            raise CorpusIntegrityError(f"{self.path}: cannot be read: {error.strerror}") from None

    def _row(self, number: int, line: bytes) -> Row:
        if number == 1 and line.startswith(b"\xef\xbb\xbf"):
            self._refuse(number, "the file starts with a byte order mark; save it as UTF-8 without one")
        try:
            source = line.decode("utf-8")
        except UnicodeDecodeError as error:
            self._refuse(number, f"byte {error.start + 1} of the line is not UTF-8")
        if not source.strip(" \t\r\n"):
            self._refuse(number, "the line is blank")
        fields = self._object(number, source)
        self._check_keys(number, fields)
        for name, value in fields.items():
            self._check_text(number, name, value)
        text_bytes = fields["text"].encode("utf-8")
        self._check_digests(number, fields, text_bytes)
        return Row(
            position=number - 1,
            id=fields["id"],
            source=fields["source"],
            source_id=fields.get("sourceId"),
            title=fields["title"],
            text=fields["text"],
            sha256=fields["sha256"],
            derived_from=fields.get("derived_from"),
        )

    def _object(self, number: int, source: str) -> dict[str, Any]:
        try:
            value = strict_json.parse(source)
        except strict_json.NotStrict as reason:
            self._refuse(number, str(reason))
        if not isinstance(value, dict):
            self._refuse(number, "a row is a JSON object")
        return value

    def _check_keys(self, number: int, fields: dict[str, Any]) -> None:
        if missing := sorted(REQUIRED - fields.keys()):
            self._refuse(number, f"missing {', '.join(missing)}")
        if unknown := sorted(fields.keys() - REQUIRED - OPTIONAL):
            self._refuse(
                number, f"unknown key {', '.join(map(strict_json.shown, unknown[:3]))}: no digest binds it"
            )

    def _check_text(self, number: int, name: str, value: object) -> None:
        if (fault := text_fault(name, value)) is not None:
            self._refuse(number, fault)

    def _check_digests(self, number: int, fields: dict[str, Any], text_bytes: bytes) -> None:
        for name in ("sha256", "derived_from"):
            if name in fields and not is_sha256(fields[name]):
                self._refuse(number, f"{name} is not 64 lower-case hexadecimal digits")
        if sha256_bytes(text_bytes) != fields["sha256"]:
            self._refuse(number, f"the digest of {fields['id']!r} does not match its text")

    def _refuse(self, number: int, reason: str) -> NoReturn:
        raise CorpusIntegrityError(f"{self.path}, line {number}: {reason}")


def admit(path: Path, *, max_bytes: int = MAX_BYTES, max_rows: int = MAX_ROWS) -> tuple[list[Row], Admitted]:
    """Read a whole projection into memory; rows in file order and the file's digests.

    Raises CorpusIntegrityError as :class:`Admission` does.
    """
    admission = Admission(path, max_bytes=max_bytes, max_rows=max_rows)
    rows = list(admission)
    return rows, admission.result


def text_fault(name: str, value: object) -> str | None:
    """Say how a field's value breaks rules 5 and 6; None where it does not."""
    if not isinstance(value, str):
        return f"{name} is not text"
    if "\0" in value:
        return f"{name} holds a NUL character"
    if not is_unicode(value):
        return f"{name} holds a lone surrogate, which is no character"
    most = CHARACTERS.get(name)
    if most is not None and len(value) > most:
        return f"{name} has {len(value)} characters; at most {most} are admitted"
    if most is not None and not value.strip():
        return f"{name} is blank"
    return None


def projection_line(row: Row) -> str:
    """Return a row as its canonical JSON line, newline included."""
    return canonical_json(row.payload()) + "\n"
