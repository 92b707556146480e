"""The digests that bind a file's rows and indexes, computed alike by the builder and the audit.

A digest here is SHA-256 over canonical JSON lines, each with its newline.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from secondbrain.digests import canonical_lines_sha256

_ROW_KEYS = ("ordinal", "position", "id", "source", "sourceId", "title", "text", "sha256", "derived_from")


def rows_sha256(rows: Iterable[Sequence[Any]]) -> str:
    """Return the digest of chunk rows, every column, in the order given (``sql/verify/rows.sql``)."""
    return canonical_lines_sha256(dict(zip(_ROW_KEYS, row, strict=True)) for row in rows)


def index_sha256(places: Iterable[Sequence[Any]]) -> str:
    """Return the digest of an index: every word with all its places (``sql/verify/*_index_places.sql``)."""
    return canonical_lines_sha256({"places": row[1], "term": row[0]} for row in places)
