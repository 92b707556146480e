"""The wheel's build hook: compiles corpus/ and frontier/ into the packaged database, wire types into schemas.

It runs the package's own builder from the source tree, and stops where the projection is not the one
that ``corpus/manifest.json`` states.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DatabaseBuildHook(BuildHookInterface[Any]):
    """Puts ``secondbrain/data/`` into wheels and editable installs: database, digest, JSON Schemas."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the database before files are collected; RuntimeError where the manifest disagrees."""
        root = Path(self.root)
        sys.path.insert(0, str(root))
        try:
            from secondbrain.projection.admission import projection_line
            from secondbrain.projection.documents import harvest
            from secondbrain.schemas import write_schemas
            from secondbrain.store.build import build
            from secondbrain.store.sidecar import sidecar
        finally:
            sys.path.remove(str(root))
        manifest = json.loads((root / "corpus" / "manifest.json").read_text(encoding="utf-8"))
        database = root / "secondbrain" / "data" / "second-brain.db"
        database.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            projection = Path(folder) / "projection.jsonl"
            lines = map(projection_line, harvest(root / "corpus").rows)
            projection.write_text("".join(lines), encoding="utf-8", newline="\n")
            built = build(
                projection, database, frontier=root / "frontier", aliases=root / "corpus" / "aliases.toml"
            )
        if built.generation_sha256 != manifest["generation_sha256"]:
            raise RuntimeError(
                f"corpus/ gives generation {built.generation_sha256}, corpus/manifest.json states "
                f"{manifest['generation_sha256']}: review the change, then run scripts/manifest"
            )
        files = [database, sidecar(database), *write_schemas(database.parent / "schemas")]
        build_data["artifacts"] += [file.relative_to(root).as_posix() for file in files]
