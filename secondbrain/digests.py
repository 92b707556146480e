"""Canonical JSON and SHA-256: the one way in which anything here is digested.

Canonical JSON is UTF-8, keys sorted, ``,`` and ``:`` without blanks, no NaN or infinity,
non-ASCII characters as they are.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
_SHA256 = re.compile(r"[0-9a-f]{64}")
_GIT_REVISION = re.compile(r"[0-9a-f]{40}")
_PINNED_REVISION = re.compile(r"[0-9a-f]{40}|sha256:[0-9a-f]{64}")


def canonical_json(value: Any) -> str:
    """Return the canonical JSON text of a JSON-like value.

    Raises ValueError for NaN and infinities, TypeError for what JSON cannot hold.
    """
    return _ENCODER.encode(value)


def sha256_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_text(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes; UnicodeEncodeError for lone surrogates."""
    return sha256_bytes(text.encode("utf-8"))


def canonical_sha256(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON."""
    return sha256_text(canonical_json(value))


def canonical_array_sha256(items: Iterable[str]) -> str:
    """Return the SHA-256 of the canonical JSON of an array whose items are canonical JSON already."""
    return sha256_text(f"[{','.join(items)}]")


def canonical_lines_sha256(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the SHA-256 over the canonical lines of rows, each with its newline, in the order given."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(canonical_json(row).encode("utf-8"))
        digest.update(b"\n")
    return digest.hexdigest()


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes; OSError where it cannot be read."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_sha256(value: object) -> bool:
    """Say whether a value is a string of 64 lower-case hexadecimal digits."""
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


def is_unicode(text: str) -> bool:
    """Say whether a text holds characters alone: no lone surrogate, which UTF-8 cannot write."""
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            return False
    return True


def is_git_revision(value: object) -> bool:
    """Say whether a value is a full git commit id: 40 lower-case hexadecimal digits."""
    return isinstance(value, str) and _GIT_REVISION.fullmatch(value) is not None


def is_pinned_revision(value: object) -> bool:
    """Say whether a value pins a revision: 40 hexadecimal digits, or ``sha256:`` and 64 of them."""
    return isinstance(value, str) and _PINNED_REVISION.fullmatch(value) is not None
