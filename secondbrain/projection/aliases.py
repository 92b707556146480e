"""Terms that a corpus writes in two ways, from a TOML file.

    [[alias]]
    term = "RRF"
    same_as = "reciprocal rank fusion"
    reason = "the paper's name and its abbreviation"

Both sides stand for each other in queries. ``Λ`` and ``lambda`` are built in.
"""

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from secondbrain.digests import canonical_lines_sha256
from secondbrain.errors import CorpusIntegrityError
from secondbrain.text import words

MAX_CHARACTERS = 200
MAX_ALIASES = 1000


class Alias(NamedTuple):
    """Two spellings of one term, and why they are one."""

    term: str
    same_as: str
    reason: str


BUILT_IN = (Alias("Λ", "lambda", "the sign and its name"),)


def read_aliases(path: Path | None) -> tuple[Alias, ...]:
    """Return the built-in aliases and those of a file, in order.

    Raises CorpusIntegrityError for a file that is no TOML, an entry without its three texts, an
    unknown key, a spelling without a word, a term that stands for itself, or a pair that stands twice.
    """
    if path is None:
        return BUILT_IN
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CorpusIntegrityError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # no UTF-8, no TOML, or a number beyond Python's limit of digits
        raise CorpusIntegrityError(f"{path}: no TOML: {error}") from None
    except RecursionError:
        raise CorpusIntegrityError(f"{path}: no TOML: nested too deep") from None
    entries = content.get("alias")
    if set(content) != {"alias"} or not isinstance(entries, list) or len(entries) > MAX_ALIASES:
        raise CorpusIntegrityError(f"{path}: holds [[alias]] entries and nothing else, at most {MAX_ALIASES}")
    aliases = list(BUILT_IN)
    for number, entry in enumerate(entries, 1):
        alias = _alias(path, number, entry)
        pair = {alias.term.casefold(), alias.same_as.casefold()}
        if len(pair) == 1:
            raise CorpusIntegrityError(f"{path}, alias {number}: both spellings are the same")
        if any(pair == {known.term.casefold(), known.same_as.casefold()} for known in aliases):
            raise CorpusIntegrityError(f"{path}, alias {number}: the pair stands already")
        aliases.append(alias)
    return tuple(aliases)


def aliases_sha256(rows: Iterable[Sequence[Any]]) -> str:
    """Return the SHA-256 over the canonical lines of alias rows ``(row, term, same_as, reason)``."""
    return canonical_lines_sha256(dict(zip(("row", *Alias._fields), row, strict=True)) for row in rows)


def _alias(path: Path, number: int, entry: object) -> Alias:
    if not isinstance(entry, dict) or set(entry) != set(Alias._fields):
        raise CorpusIntegrityError(f"{path}, alias {number}: needs exactly term, same_as and reason")
    for name, value in entry.items():
        if not isinstance(value, str) or not value.strip() or len(value) > MAX_CHARACTERS or "\0" in value:
            raise CorpusIntegrityError(
                f"{path}, alias {number}: {name} is no text of 1 to {MAX_CHARACTERS} characters"
            )
    alias = Alias(**entry)
    if not (any(words(alias.term)) and any(words(alias.same_as))):
        raise CorpusIntegrityError(
            f"{path}, alias {number}: a spelling holds no word, so that no query asks for it"
        )
    return alias
