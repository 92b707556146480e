"""The sparse leg by itself: BM25 handles with their scores, no fusion, no diversity, no abstention."""

from collections.abc import Sequence

from secondbrain import wire
from secondbrain.digests import sha256_text
from secondbrain.errors import StoreIntegrityError
from secondbrain.retrieval.asking import ask, check_k, check_sources
from secondbrain.retrieval.handles import handle
from secondbrain.retrieval.query import check_text
from secondbrain.store.locate import default_store
from secondbrain.store.opened import Store


def retrieve(
    query: str, k: int = 6, sources: Sequence[str] | None = None, *, store: Store | None = None
) -> wire.Retrieval:
    """Return the k best BM25 handles with their scores; smaller is better.

    ``k`` is 1 to 12. Raises RetrievalBoundaryError for a query, k or sources outside their rules,
    DeadlineExceeded for a search that takes too long, and what :func:`default_store` raises for an operator's
    projection that cannot be followed; a store that fails its check gives UNAVAILABLE.
    """
    check_text(query)
    check_k(k)
    store = store if store is not None else default_store()
    payload: wire.Retrieval = {
        "schema": "szl.second-brain.retrieve/v1",
        "state": "UNAVAILABLE",
        "ready": False,
        "query_sha256": sha256_text(query),
        "generation_sha256": None,
        "handles": [],
        "scores": [],
        "k": k,
        "corpus_n": 0,
        **wire.boundary(),
    }
    try:
        reader = store.reader()
        wanted = check_sources(reader, sources)
        found = ask(reader, query, wanted).candidates[:k] if query.strip() else []
        handles = [handle(reader, ordinal) for ordinal, _ in found]
    except StoreIntegrityError as error:
        payload["error_type"] = type(error).__name__
        return payload
    if handles:
        payload["state"] = "GROUNDED_HANDLES_READY"
    else:
        payload["state"] = "ABSTAIN_NO_GROUNDED_HANDLES" if query.strip() else "ABSTAIN_NO_QUERY"
    payload["ready"] = bool(handles)
    payload["generation_sha256"] = reader.snapshot.generation_sha256
    payload["corpus_n"] = reader.snapshot.chunk_count
    payload["handles"] = handles
    payload["scores"] = [score for _, score in found]
    return payload
