"""What is open here, how it was checked, and what can run: counts and digests, never a text.

A store that fails its check is reported; an operator's projection that cannot be followed raises what
:func:`default_store` does, so that no face answers in its place.
"""

from secondbrain import wire
from secondbrain.errors import StoreIntegrityError
from secondbrain.retrieval.asking import MAX_K
from secondbrain.retrieval.bm25 import DEPTH
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.retrieval.providers import check_dense_binding, check_reranker_binding
from secondbrain.retrieval.query import MAX_CHARACTERS
from secondbrain.retrieval.receipt import dense_payload, reranker_payload
from secondbrain.store import schema
from secondbrain.store.locate import default_store
from secondbrain.store.opened import Store


def index(*, store: Store | None = None) -> wire.Index:
    """Return the counts of chunks by source; not ready where the store fails its check."""
    store = store if store is not None else default_store()
    try:
        snapshot = store.snapshot()
    except StoreIntegrityError as error:
        return {
            "schema": "szl.second-brain.index/v1",
            "ready": False,
            "generation_sha256": None,
            "corpus_n": 0,
            "sources": {},
            "error_type": type(error).__name__,
            **wire.boundary(),
        }
    return {
        "schema": "szl.second-brain.index/v1",
        "ready": True,
        "generation_sha256": snapshot.generation_sha256,
        "corpus_n": snapshot.chunk_count,
        "sources": dict(snapshot.sources),
        **wire.boundary(),
    }


def status(*, store: Store | None = None) -> wire.Status:
    """Return the open generation with its digests, and how its file was checked."""
    payload: wire.Status = {
        "schema": "szl.second-brain.status/v1",
        "state": "UNAVAILABLE",
        "ready": False,
        "generation_sha256": None,
        "rows_sha256": None,
        "index_sha256": None,
        "aliases_sha256": None,
        "candidate_set_sha256": None,
        "file_sha256": None,
        "integrity": "NOT_CHECKED",
        "schema_version": schema.schema_version(),
        "corpus_n": 0,
        "frontier_n": 0,
        "private_graph_nodes_declared": wire.PRIVATE_GRAPH_NODES,
        "private_graph_nodes_loaded": 0,
        "lambda_status": "CONJECTURE_1",
        "locked_proven": list(wire.LOCKED_PROVEN),
        **wire.boundary(),
    }
    store = store if store is not None else default_store()
    try:
        snapshot = store.snapshot()
    except StoreIntegrityError as error:
        payload["error_type"] = type(error).__name__
        return payload
    payload["state"] = "READY"
    payload["ready"] = True
    payload["generation_sha256"] = snapshot.generation_sha256
    payload["rows_sha256"] = snapshot.rows_sha256
    payload["index_sha256"] = snapshot.index_sha256
    payload["aliases_sha256"] = snapshot.aliases_sha256
    payload["candidate_set_sha256"] = snapshot.frontier_sha256
    payload["file_sha256"] = snapshot.file_sha256
    payload["integrity"] = snapshot.integrity
    payload["corpus_n"] = snapshot.chunk_count
    payload["frontier_n"] = snapshot.candidate_count
    return payload


def retrieval_capabilities(brain: HybridSecondBrain) -> wire.Capabilities:
    """Return the modes that can occur with a coordinator's providers.

    Raises ProviderBoundaryError and ProviderUnavailable for a provider that states no proper binding.
    """
    plan = brain.plan
    dense = check_dense_binding(plan.dense_provider) if plan.dense_provider is not None else None
    reranker = check_reranker_binding(plan.reranker) if plan.reranker is not None else None
    base = ["BM25_ONLY"]
    if plan.dense_provider is not None:
        base = ["HYBRID_SPARSE_DENSE"] + ["BM25_FALLBACK_DENSE_UNAVAILABLE"] * plan.allow_sparse_fallback
    endings = [""]
    if plan.reranker is not None:
        # Without an ending too: a reranker with no candidates is not run.
        endings = ["", "+RERANKER"] + ["+RERANKER_UNAVAILABLE"] * plan.allow_reranker_fallback
    return {
        "schema": "szl.second-brain.retrieval-capabilities/v1",
        "modes": ["NOT_RUN", *(mode + ending for mode in base for ending in endings)],
        "sparse": "FTS5_BM25",
        "dense": dense_payload(dense),
        "reranker": reranker_payload(reranker),
        "max_k": MAX_K,
        "max_query_characters": MAX_CHARACTERS,
        "candidate_depth": DEPTH,
        "rrf_k": plan.rrf_k,
        "per_source_limit": plan.per_source_limit,
        **wire.boundary(),
    }
