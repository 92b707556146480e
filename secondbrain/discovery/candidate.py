"""How every candidate row is made: content-addressed, awaiting review, for controllers only."""

import json
from collections.abc import Mapping
from typing import Any

from secondbrain.digests import sha256_text
from secondbrain.discovery.identity import candidate_id
from secondbrain.discovery.payload import Payload
from secondbrain.wire import FrontierCandidate


def candidate(
    payload: Payload,
    *,
    source_kind: str,
    stable_key: str,
    title: str,
    content: str,
    admission: str = "DISCOVERED_REVIEW_REQUIRED",
) -> FrontierCandidate:
    """Return a row of a payload, without the three optional fields: the extractor that owns one adds it."""
    contract = payload.contract
    return {
        "schema": "szl.second-brain.frontier-candidate/v1",
        "id": candidate_id(contract.repository, contract.path, source_kind, stable_key),
        "title": title,
        "content": content,
        "content_sha256": sha256_text(content),
        "content_access": "CONTROLLER_ONLY",
        "candidate_state": "DISCOVERED_REVIEW_REQUIRED",
        "admission": admission,
        "source_kind": source_kind,
        "source_repository": contract.repository,
        "source_revision": payload.revision,
        "source_path": contract.path,
    }


def record_content(record: Mapping[str, Any]) -> str:
    """Return a JSON record as the content of a row, as published sets write it: sorted keys, one line."""
    return json.dumps(record, ensure_ascii=False, sort_keys=True, allow_nan=False)
