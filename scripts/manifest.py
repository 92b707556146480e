"""Writes corpus/manifest.json: which projection corpus/ gives. A build that gives another one stops."""

import json
import tempfile
from collections import Counter
from pathlib import Path

from secondbrain.digests import sha256_file
from secondbrain.projection.admission import admit, projection_line
from secondbrain.projection.documents import harvest

CORPUS = Path(__file__).resolve().parent.parent / "corpus"


def manifest() -> dict[str, object]:
    """Return what the manifest must say of the corpus as it stands."""
    with tempfile.TemporaryDirectory() as folder:
        projection = Path(folder) / "projection.jsonl"
        lines = map(projection_line, harvest(CORPUS).rows)
        projection.write_text("".join(lines), encoding="utf-8", newline="\n")
        rows, admitted = admit(projection)
    return {
        "aliases_file_sha256": sha256_file(CORPUS / "aliases.toml"),
        "generation_sha256": admitted.generation_sha256,
        "rows": admitted.rows,
        "sources": dict(sorted(Counter(row.source for row in rows).items())),
    }


if __name__ == "__main__":
    text = json.dumps(manifest(), indent=2, sort_keys=True) + "\n"
    (CORPUS / "manifest.json").write_text(text, encoding="utf-8")
    print(text, end="")
