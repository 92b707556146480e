"""The frontier: candidates that discovery found, for reviewers.

The rules:

 1. Every candidate is DISCOVERED_REVIEW_REQUIRED; no search, filter or rank changes that.
 2. The stored set is held against its digests before anything of it is shown, once a generation.
 3. A set that fails leaves the frontier UNAVAILABLE, with the error's type alone; chunk retrieval goes on.
 4. PROOF_STATUS, reported status and the locked set are separate fields that nothing joins.
"""

import json
from itertools import islice
from typing import Any, NamedTuple

from secondbrain import wire
from secondbrain.digests import canonical_array_sha256, canonical_json, canonical_sha256, sha256_text
from secondbrain.errors import (
    FrontierIntegrityError,
    IntegrityError,
    RetrievalBoundaryError,
    StoreIntegrityError,
)
from secondbrain.retrieval.asking import check_k, parsed
from secondbrain.retrieval.query import check_text
from secondbrain.store.candidates import frontier_findings, published
from secondbrain.store.locate import default_store
from secondbrain.store.opened import Reader, Store

MAX_K = 24
"""Most candidates of one answer."""
_NO_EVIDENCE = canonical_sha256([])


class Filters(NamedTuple):
    """What a frontier search may be narrowed to; each names one value that the set holds, or none."""

    kind: str | None
    source_id: str | None
    quant_domain: str | None


def frontier_status(*, store: Store | None = None) -> wire.FrontierStatus:
    """Return the stored frontier state with ``ready``; UNAVAILABLE where it fails its check.

    An operator's projection that is refused raises, here as everywhere: nothing answers in its place.
    """
    store = store or default_store()
    try:
        state = verified_frontier(store.reader())
    except IntegrityError as error:
        unavailable: wire.FrontierStatus = {
            "schema": "szl.second-brain.frontier-state/v1",
            "state": "UNAVAILABLE",
            "ready": False,
            "error_type": type(error).__name__,
        }
        unavailable.update(wire.no_authority())  # type: ignore[typeddict-item]
        return unavailable
    status: Any = {**state, "ready": True}
    return status  # type: ignore[no-any-return]


def frontier_search(
    query: str,
    k: int = 12,
    *,
    kind: str | None = None,
    source_id: str | None = None,
    quant_domain: str | None = None,
    store: Store | None = None,
) -> wire.FrontierSearch:
    """Return handles of the k best candidates for a query, by the same rules as chunks.

    ``k`` is 1 to 24; the filters keep candidates of one kind, source and quant domain. Raises
    RetrievalBoundaryError for a query, k or filter outside its rules.
    """
    check_text(query)
    check_k(k, MAX_K)
    payload: wire.FrontierSearch = {
        "schema": "szl.second-brain.frontier-search/v1",
        "state": "UNAVAILABLE",
        "ready": False,
        "query_sha256": sha256_text(query),
        "generation_sha256": None,
        "candidate_set_sha256": None,
        "k": k,
        "handles": [],
        "scores": [],
        "evidence_set_sha256": _NO_EVIDENCE,
        **wire.no_authority(),
        **wire.boundary(),
    }
    store = store or default_store()
    try:
        reader = store.reader()
        payload["generation_sha256"] = reader.snapshot.generation_sha256
        payload["candidate_set_sha256"] = verified_frontier(reader)["candidate_set_sha256"]
        filters = Filters(kind, source_id, quant_domain)
        _check_filters(reader, filters)
        expression = parsed(reader, query).expression()
        found = reader.rows("read/frontier_bm25", (expression, *_twice(filters), k)) if expression else []
        known = frontier_handles(reader)
        if any(node_id not in known for node_id, _ in found):
            raise StoreIntegrityError(f"{reader.snapshot.path}: is damaged: a candidate found has no row")
    except IntegrityError as error:
        payload["error_type"] = type(error).__name__
        return payload
    payload["state"] = "REVIEW_REQUIRED"
    payload["handles"] = [known[node_id].copy() for node_id, _ in found]
    payload["scores"] = [score for _, score in found]
    payload["ready"] = bool(found)
    payload["evidence_set_sha256"] = canonical_array_sha256(_canonical(reader, one) for one, _ in found)
    return payload


def anatomy_feed(k: int = 24, *, store: Store | None = None) -> wire.AnatomyFeed:
    """Return the first k candidates in the order of their ids, for read-only observation.

    ``k`` is 1 to 24. Raises RetrievalBoundaryError for a k outside that.
    """
    check_k(k, MAX_K)
    payload: wire.AnatomyFeed = {
        "schema": "szl.second-brain.anatomy-feed/v1",
        "purpose": "READ_ONLY_LIVING_ANATOMY_OBSERVATION",
        "state": "UNAVAILABLE",
        "ready": False,
        "candidate_set_sha256": None,
        "candidate_count": 0,
        "k": k,
        "handles": [],
        "evidence_set_sha256": _NO_EVIDENCE,
        **wire.no_authority(),
        **wire.boundary(),
    }
    store = store or default_store()
    try:
        reader = store.reader()
        state = verified_frontier(reader)
        handles = [handle.copy() for handle in islice(frontier_handles(reader).values(), k)]
    except IntegrityError as error:
        payload["error_type"] = type(error).__name__
        return payload
    payload["state"] = "REVIEW_REQUIRED"
    payload["ready"] = bool(handles)
    payload["candidate_set_sha256"] = state["candidate_set_sha256"]
    payload["candidate_count"] = state["candidate_count"]
    payload["handles"] = handles
    payload["evidence_set_sha256"] = canonical_sha256(handles)
    return payload


def frontier_candidate(node_id: str, *, store: Store | None = None) -> wire.FrontierHandle | None:
    """Return the handle of one candidate, or None where the set has none of that id.

    Raises FrontierIntegrityError or StoreIntegrityError where the set fails its check.
    """
    found = frontier_handles((store or default_store()).reader()).get(check_text(node_id))
    return found.copy() if found is not None else None


def verified_frontier(reader: Reader) -> wire.FrontierState:
    """Return the stored state, held against the rows once a generation.

    Raises FrontierIntegrityError where there is no set, or where it fails its check.
    """
    state: wire.FrontierState | None = reader.memo.get("frontier_state")
    if state is None:
        stated = reader.snapshot.frontier_sha256
        if stated is None:
            raise FrontierIntegrityError("this database holds no frontier set; build it with --frontier DIR")
        try:
            finding = next(frontier_findings(reader.rows, stated), None)
            if finding is None:
                state = json.loads(reader.rows("read/frontier_state")[0][0])
        except (ValueError, KeyError, TypeError) as error:
            raise FrontierIntegrityError(
                f"the stored frontier state is damaged: {type(error).__name__}"
            ) from None
        if state is None:
            raise FrontierIntegrityError(f"the stored frontier set fails its check: {finding}")
        reader.memo["frontier_state"] = state
    return state


def frontier_handles(reader: Reader) -> dict[str, wire.FrontierHandle]:
    """Return the handles of the whole set by id, in the order of ids, made once a generation.

    They are shared: copy one that leaves. Raises as :func:`verified_frontier` does.
    """
    verified_frontier(reader)
    handles: dict[str, wire.FrontierHandle] | None = reader.memo.get("frontier_handles")
    if handles is None:
        rows = map(published, reader.rows("read/candidates"))
        handles = reader.memo["frontier_handles"] = {row["id"]: _handle(row) for row in rows}
    return handles


def _canonical(reader: Reader, node_id: str) -> str:
    """Return the canonical JSON of a handle, made once a generation: most of a search's time otherwise."""
    known: dict[str, str] = reader.memo.setdefault("frontier_handles_canonical", {})
    if node_id not in known:
        known[node_id] = canonical_json(frontier_handles(reader)[node_id])
    return known[node_id]


def _handle(row: dict[str, Any]) -> wire.FrontierHandle:
    handle: wire.FrontierHandle = {
        "schema": "szl.second-brain.frontier-handle/v1",
        "nodeId": row["id"],
        "title": row["title"],
        "sha256": row["content_sha256"],
        "repository": row["source_repository"],
        "revision": row["source_revision"],
        "path": row["source_path"],
        "kind": row["source_kind"],
        "admission": row["admission"],
        "candidate_state": row["candidate_state"],
        "contentAccess": "CONTROLLER_ONLY",
    }
    if "quant_domain" in row:
        handle["quantDomain"] = row["quant_domain"]
    if "proof_status" in row:
        handle["proofStatus"] = row["proof_status"]
    if "reported_status" in row:
        handle["reportedStatus"] = row["reported_status"]
    return handle


def _check_filters(reader: Reader, filters: Filters) -> None:
    for name, value in filters._asdict().items():
        if value is None:
            continue
        known = {row[0] for row in reader.rows(f"read/frontier_values_of_{name}")}
        if value not in known:
            raise RetrievalBoundaryError(f"{name} names {value!r}, which this frontier set lacks")


def _twice(filters: Filters) -> list[str | None]:
    # Each filter stands in the statement as (? IS NULL OR column = ?).
    return [value for one in filters for value in (one, one)]
