"""Handles: what leaves of a chunk. The statement that reads them never touches its text."""

from collections.abc import Sequence

from secondbrain import wire
from secondbrain.store.opened import Reader


def handle(reader: Reader, ordinal: int) -> wire.Handle:
    """Return the handle of the chunk that stands at an ordinal of this generation."""
    node_id, source, source_id, note, sha256 = reader.handle_row(ordinal)
    return {
        "nodeId": node_id,
        "nodeKind": "INDEX",
        "label": "DECLARED",
        "note": note,
        "source": source,
        "sourceId": source_id or "",
        "sha256": sha256,
    }


def evidence(handles: Sequence[wire.Handle]) -> list[wire.Evidence]:
    """Return the evidence of handles, in their order."""
    return [{"node_id": h["nodeId"], "source": h["source"], "sha256": h["sha256"]} for h in handles]
