"""Verification of a context: is it what this generation gives, and is it whole?

The rules, in order; the first that fails decides:

 1. The payload has the form of a context.
 2. Its digests are those of what it carries: evidence, handles, and the context as a whole, receipt
    included; evidence and selected nodes are those of the handles, in order. Otherwise it is TAMPERED.
 3. Another generation than the one that is open makes it STALE: nothing more can be said.
 4. Every handle is the stored one, to the letter, and the count of chunks is this generation's.
    Otherwise it is TAMPERED.

The digests have no key: they find what was changed by accident or in part, not a context that somebody
made up whole with digests to match. That is what NOT_PROVEN says.
"""

import json
from collections.abc import Callable
from typing import Any

from secondbrain import wire
from secondbrain.digests import canonical_sha256
from secondbrain.retrieval.handles import evidence, handle
from secondbrain.retrieval.receipt import context_sha256
from secondbrain.schemas import checked
from secondbrain.store.locate import default_store
from secondbrain.store.opened import Reader, Store

NOT_PROVEN = (
    "that the query had this ranking: the query is not in the receipt",
    "who made it: whoever changes scores, mode or rule and computes its digests anew is not found out, "
    "for a context carries digests and no signature",
    "that any text is true, relevant or proven",
)
CHECKED = (
    "context_sha256",
    "evidence_set_sha256",
    "handles_sha256",
    "evidence",
    "selected",
    "state",
    "generation_sha256",
    "handles",
    "corpus_n",
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
    # Named where nothing closer is: it binds all the rest, scores, mode and rule among it.
    if not findings and _digest(context, context_sha256) != context["context_sha256"]:
        findings.append(_finding("context_sha256", "is not the digest of the context"))
    return findings


def _digest(value: Any, digest: Callable[[Any], str] = canonical_sha256) -> str | None:
    """Return a digest, or None for what canonical JSON cannot hold: it has none."""
    try:
        return digest(value)
    except (ValueError, TypeError, RecursionError):
        return None


def _not_stored(reader: Reader, context: wire.Context) -> list[wire.Finding]:
    ids = [one["nodeId"] for one in context["handles"]]
    places = {node_id: ordinal for node_id, ordinal, *_ in reader.rows("read/nodes", (json.dumps(ids),))}
    for number, one in enumerate(context["handles"]):
        if one["nodeId"] not in places or handle(reader, places[one["nodeId"]]) != one:
            return [_finding("handles", f"handle {number + 1} is not the stored one")]
    if context["corpus_n"] != reader.snapshot.chunk_count:
        return [_finding("corpus_n", "is not the count of this generation")]
    return []


def _finding(check: str, detail: str) -> wire.Finding:
    return {"check": check, "detail": detail}
