"""What the corpus of a checkout is known by: ``corpus/manifest.json``.

The manifest is written by a person who reviewed a change (``scripts/manifest``), and only compared by
builds and tests. It holds digests and counts, no text:

    generation_sha256   SHA-256 of the projection's bytes, as ``secondbrain corpus make`` writes them
    rows, sources       how many rows there are, in all and by source
    documents           how many Markdown files they stand in
    aliases_sha256      over the canonical alias rows, the built-in ones included
"""

import json
from collections import Counter
from pathlib import Path
from typing import TypedDict

from secondbrain.digests import sha256_text
from secondbrain.projection.admission import projection_line
from secondbrain.projection.aliases import aliases_sha256, read_aliases
from secondbrain.projection.documents import harvest


class Manifest(TypedDict):
    """The content of ``manifest.json``."""

    aliases_sha256: str
    documents: int
    generation_sha256: str
    rows: int
    sources: dict[str, int]


def manifest_of(folder: Path) -> Manifest:
    """Harvest a corpus folder and say what it is known by.

    Raises CorpusIntegrityError as ``harvest`` and ``read_aliases`` do.
    """
    found = harvest(folder)
    aliases = read_aliases(folder / "aliases.toml")
    return {
        "aliases_sha256": aliases_sha256((row, *alias) for row, alias in enumerate(aliases, 1)),
        "documents": found.documents,
        "generation_sha256": sha256_text("".join(map(projection_line, found.rows))),
        "rows": len(found.rows),
        "sources": dict(sorted(Counter(row.source for row in found.rows).items())),
    }


def manifest_text(folder: Path) -> str:
    """Return the manifest of a corpus folder as the text of its file."""
    return json.dumps(manifest_of(folder), indent=2, sort_keys=True) + "\n"
