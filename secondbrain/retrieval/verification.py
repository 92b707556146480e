"""Verification of a context: is it what this generation gives, and is it whole?

The rules, in order; the first that fails decides:

 1. The payload has the form of a context.
 2. Its digests are those of what it carries: evidence, handles; evidence and selected nodes are those of
    the handles, in order. Otherwise it is TAMPERED.
 3. Another generation than the one that is open makes it STALE: nothing more can be said.
 4. Every handle is the stored one, to the letter. Otherwise it is TAMPERED.
"""

import json
from typing import Any

from secondbrain import wire
from secondbrain.digests import canonical_sha256
from secondbrain.retrieval.handles import evidence, handle
from secondbrain.schemas import checked
from secondbrain.store.locate import default_store
from secondbrain.store.opened import Reader, Store

NOT_PROVEN = (
    "that the query had this ranking: the query is not in the receipt",
    "who made the receipt: it carries digests and no signature",
    "that any text is true, relevant or proven",
)
CHECKED = (
    "evidence_set_sha256",
    "handles_sha256",
    "evidence",
    "selected",
    "state",
    "generation_sha256",
    "handles",
)


def verify_receipt(payload: object, *, store: Store | None = None) -> wire.Verification:
    """Verify a context payload against the open generation.

    Returns VERIFIED, STALE or TAMPERED with which digest failed. Raises RetrievalBoundaryError for
    what is no context, StoreIntegrityError where the store fails its own check.
    """
    checked(wire.CONTEXT, payload)
    # The payload itself is verified, not what the check of its form kept of it: a key too many counts.
    context: wire.Context = payload  # type: ignore[assignment]
    reader = (store or default_store()).reader()
    findings = _broken(context)
    state = "TAMPERED" if findings else "VERIFIED"
    generation = reader.snapshot.generation_sha256
    if not findings and context["generation_sha256"] != generation:
        state = "STALE"
        findings = [_finding("generation_sha256", "is not the generation that is open")]
    elif not findings:
        findings = _not_stored(reader, context)
        state = "TAMPERED" if findings else "VERIFIED"
    result: Any = {
        "schema": "szl.second-brain.verification/v1",
        "subject": "RECEIPT",
        "state": state,
        "ready": state == "VERIFIED",
        "generation_sha256": generation,
        "findings": findings,
        "checked": list(CHECKED),
        "not_proven": list(NOT_PROVEN),
    }
    return result  # type: ignore[no-any-return]


def _broken(context: wire.Context) -> list[wire.Finding]:
    findings: list[wire.Finding] = []
    receipt = context["ranking_receipt"]
    if _digest(context["evidence"]) != context["evidence_set_sha256"]:
        findings.append(_finding("evidence_set_sha256", "is not the digest of the evidence"))
    if _digest(context["handles"]) != context["handles_sha256"]:
        findings.append(_finding("handles_sha256", "is not the digest of the handles"))
    if evidence(context["handles"]) != context["evidence"]:
        findings.append(_finding("evidence", "is not that of the handles"))
    if [node["node_id"] for node in receipt["selected"]] != [one["nodeId"] for one in context["handles"]]:
        findings.append(_finding("selected", "does not name the handles in their order"))
    if (
        context["ready"] != bool(context["handles"])
        or (context["state"] == "GROUNDED_HANDLES_READY") != context["ready"]
    ):
        findings.append(_finding("state", "does not fit the handles"))
    if receipt["generation_sha256"] != context["generation_sha256"]:
        findings.append(_finding("generation_sha256", "differs between context and receipt"))
    return findings


def _digest(value: object) -> str | None:
    """Return the canonical digest, or None for what canonical JSON cannot hold: it has none."""
    try:
        return canonical_sha256(value)
    except (ValueError, TypeError, RecursionError):
        return None


def _not_stored(reader: Reader, context: wire.Context) -> list[wire.Finding]:
    ids = [one["nodeId"] for one in context["handles"]]
    places = {node_id: ordinal for node_id, ordinal, *_ in reader.rows("read/nodes", (json.dumps(ids),))}
    for number, one in enumerate(context["handles"]):
        if one["nodeId"] not in places or handle(reader, places[one["nodeId"]]) != one:
            return [_finding("handles", f"handle {number + 1} is not the stored one")]
    return []


def _finding(check: str, detail: str) -> wire.Finding:
    return {"check": check, "detail": detail}
