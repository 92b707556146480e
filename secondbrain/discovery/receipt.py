"""The record of a discovery run: digests, counts, revisions and outcome; no text, no token, no clock."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from secondbrain.discovery.payload import Payload
from secondbrain.errors import ProviderUnavailable
from secondbrain.wire import (
    FrontierCandidate,
    FrontierDiff,
    FrontierRun,
    FrontierRunState,
    FrontierState,
    no_authority,
)

FAILURES: frozenset[FrontierRunState] = frozenset({"REFUSED", "UNAVAILABLE", "FAILED"})


def open_receipt(command: Literal["refresh", "propose"], from_dir: Path | None) -> FrontierRun:
    """Return the receipt of a run that has not done anything yet."""
    return {
        "schema": "szl.second-brain.continuous-frontier-run/v1",
        "command": command,
        "origin": "GITHUB" if from_dir is None else "FOLDER",
        "state": "FAILED",
        "ready": False,
        "sources": [],
        "failed_source": None,
        "error_type": None,
        "error": None,
        "candidate_count": None,
        "candidate_set_sha256": None,
        "state_sha256": None,
        "source_kind_counts": {},
        "base_candidate_set_sha256": None,
        "changes": None,
        "revision_only": None,
        "proposal": None,
        "private_graph_nodes_loaded": 0,
        "raw_graph_nodes_admitted_to_gradients": 0,
        **no_authority(),
    }


def record_source(receipt: FrontierRun, payload: Payload, rows: Sequence[FrontierCandidate]) -> None:
    """Note one source, read, screened and extracted."""
    contract = payload.contract
    receipt["sources"].append(
        {
            "source_id": contract.source_id,
            "repository": contract.repository,
            "path": contract.path,
            "revision": payload.revision,
            "bytes": len(payload.data),
            "content_sha256": payload.sha256,
            "candidate_count": len(rows),
            "lineage": payload.lineage,
        }
    )


def record_set(receipt: FrontierRun, state: FrontierState, diff: FrontierDiff, *, has_base: bool) -> None:
    """Note the set that a run made, and what changed in it."""
    receipt["candidate_count"] = state["candidate_count"]
    receipt["candidate_set_sha256"] = state["candidate_set_sha256"]
    receipt["state_sha256"] = state["state_sha256"]
    receipt["source_kind_counts"] = state["source_kind_counts"]
    receipt["base_candidate_set_sha256"] = diff["base_candidate_set_sha256"] if has_base else None
    receipt["changes"] = diff["counts"]
    receipt["revision_only"] = diff["revision_only"]


def conclude(receipt: FrontierRun, state: FrontierRunState) -> FrontierRun:
    """Close a receipt with an outcome."""
    receipt["state"] = state
    receipt["ready"] = state not in FAILURES
    return receipt


def conclude_failure(receipt: FrontierRun, error: Exception) -> FrontierRun:
    """Close a receipt with an error of this library: its message is fit to be shown."""
    receipt["error_type"] = type(error).__name__
    receipt["error"] = str(error)
    return conclude(receipt, "UNAVAILABLE" if isinstance(error, ProviderUnavailable) else "REFUSED")


def write_receipt(path: Path, receipt: FrontierRun) -> None:
    """Write a receipt as sorted, indented JSON; a file of that name is replaced as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    following = path.with_name(path.name + ".next")
    following.write_text(
        json.dumps(receipt, ensure_ascii=False, sort_keys=True, indent=2) + "\n", encoding="utf-8"
    )
    os.replace(following, path)
