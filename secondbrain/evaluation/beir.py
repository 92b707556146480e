"""Collections in BEIR form: ``corpus.jsonl`` and ``queries.jsonl`` of ``_id``, title and text; ``qrels.tsv``.

The form is that of Thakur et al., BEIR (NeurIPS Datasets 2021): a judgement is query id, document id
and a whole number, parted by tabs, under one line of names.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from secondbrain.digests import sha256_text
from secondbrain.errors import CorpusIntegrityError
from secondbrain.projection.admission import Row

_NOTHING = "·"
"""Stands for an empty title or text, which no projection admits; no index makes a word of it."""


def documents(path: Path) -> Iterator[Row]:
    """Yield the documents of a corpus as projection rows, each its own source."""
    for position, value in enumerate(_objects(path)):
        text = _text(value, "text", path) or _NOTHING
        yield Row(
            position=position,
            id=_text(value, "_id", path),
            source=_text(value, "_id", path),
            source_id=None,
            title=(_text(value, "title", path) or _NOTHING),
            text=text,
            sha256=sha256_text(text),
        )


def queries(path: Path) -> dict[str, str]:
    """Return query id → text."""
    return {_text(value, "_id", path): _text(value, "text", path) for value in _objects(path)}


def judgements(path: Path) -> dict[str, dict[str, int]]:
    """Return query id → document id → grade. Raises CorpusIntegrityError for a line that is no judgement."""
    found: dict[str, dict[str, int]] = {}
    for number, line in enumerate(_lines(path), 1):
        parts = line.split("\t")
        if number == 1 and len(parts) == 3 and not parts[2].lstrip("-").isdigit():
            continue
        if len(parts) != 3 or not parts[2].lstrip("-").isdigit():
            raise CorpusIntegrityError(
                f"{path}, line {number}: no judgement: query id, document id, grade by tabs"
            )
        found.setdefault(parts[0], {})[parts[1]] = int(parts[2])
    if not found:
        raise CorpusIntegrityError(f"{path}: holds no judgements")
    return found


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(_lines(path), 1):
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise CorpusIntegrityError(f"{path}, line {number}: no JSON object")
        yield value


def _lines(path: Path) -> Iterator[str]:
    try:
        source = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise CorpusIntegrityError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CorpusIntegrityError(f"{path}: not UTF-8") from None
    # Lines end at \n only: other separators of Unicode stand inside texts.
    return (line.removesuffix("\r") for line in source.split("\n") if line.strip())


def _text(value: dict[str, Any], name: str, path: Path) -> str:
    text = value.get(name, "")
    if not isinstance(text, str) or (name == "_id" and not text):
        raise CorpusIntegrityError(f"{path}: {name} is no text")
    return text.strip() if name == "title" else text
