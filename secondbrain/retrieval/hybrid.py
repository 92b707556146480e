"""The hybrid coordinator: a query in, handles, evidence and a ranking receipt out.

The rules:

 1. A context holds handles and digests, never text, and no word of the query.
 2. ``k=3`` is the head of ``k=6``: nothing before the cut depends on k.
 3. At most ``per_source_limit`` handles of one source: fewer handles rather than more of one source.
 4. A fault of the caller or of a provider raises; a store that fails its check gives UNAVAILABLE.
 5. A request sees one generation from its first statement to its last.

A HybridSecondBrain may be shared over threads and tasks if its providers may, and over a fork that
happens before threads search; it keeps no state of a request. Calls block: in asyncio run them in a
thread where a few milliseconds matter.
"""

from collections.abc import Sequence

from secondbrain import wire
from secondbrain.digests import canonical_sha256, sha256_text
from secondbrain.errors import ConfigurationError, StoreIntegrityError
from secondbrain.retrieval.asking import check_k, check_sources
from secondbrain.retrieval.coverage import GroundingRule
from secondbrain.retrieval.fusion import PER_SOURCE_LIMIT, RRF_K
from secondbrain.retrieval.handles import evidence
from secondbrain.retrieval.providers import (
    DenseProvider,
    Reranker,
    check_dense_binding,
    check_reranker_binding,
    finite,
)
from secondbrain.retrieval.query import check_text
from secondbrain.retrieval.ranking import Plan, rank
from secondbrain.retrieval.receipt import context_sha256, idle_receipt, ranking_receipt
from secondbrain.store.locate import default_store
from secondbrain.store.opened import Reader, Store

MAX_CONSTANT = 1_000_000
"""Largest rrf_k and per_source_limit: more than any corpus needs, and a number that a float can divide by."""


class HybridSecondBrain:
    """Retrieval over one store, with an optional dense provider and an optional reranker."""

    def __init__(
        self,
        store: Store | None = None,
        *,
        dense_provider: DenseProvider | None = None,
        reranker: Reranker | None = None,
        sparse_weight: float = 1.0,
        dense_weight: float = 1.0,
        rrf_k: int = RRF_K,
        per_source_limit: int = PER_SOURCE_LIMIT,
        allow_sparse_fallback: bool = True,
        allow_reranker_fallback: bool = True,
        grounding: GroundingRule | None = None,
    ) -> None:
        """Configure retrieval; ``store`` is the operator's or packaged one where None.

        ``per_source_limit`` 0 turns the limit off; ``grounding`` replaces the rule of abstention.
        Raises ConfigurationError for a weight, constant, limit or rule that cannot be followed, and
        ProviderBoundaryError for a provider without a proper binding.
        """
        for name, weight in (("sparse_weight", sparse_weight), ("dense_weight", dense_weight)):
            if not finite(weight) or weight < 0:
                raise ConfigurationError(f"{name} is no finite number from zero up")
        if not sparse_weight + dense_weight > 0:
            raise ConfigurationError("sparse_weight and dense_weight are both zero")
        for name, number, least in (("rrf_k", rrf_k, 1), ("per_source_limit", per_source_limit, 0)):
            if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= MAX_CONSTANT:
                raise ConfigurationError(f"{name} is no whole number from {least} to {MAX_CONSTANT}")
        if grounding is not None and not (
            isinstance(grounding, GroundingRule) and all(map(finite, grounding))
        ):
            raise ConfigurationError("grounding is no GroundingRule of finite numbers")
        if dense_provider is not None:
            check_dense_binding(dense_provider)
        if reranker is not None:
            check_reranker_binding(reranker)
        self.store = store if store is not None else default_store()
        self.plan = Plan(
            dense_provider=dense_provider,
            reranker=reranker,
            sparse_weight=sparse_weight,
            dense_weight=dense_weight,
            rrf_k=rrf_k,
            per_source_limit=per_source_limit,
            allow_sparse_fallback=allow_sparse_fallback,
            allow_reranker_fallback=allow_reranker_fallback,
            grounding=grounding if grounding is not None else GroundingRule(),
        )

    def context(self, query: str, k: int = 6, sources: Sequence[str] | None = None) -> wire.Context:
        """Return handles, evidence and the ranking receipt for a query.

        ``k`` is the most handles, 1 to 12; ``sources`` keeps chunks of these sources only. Raises
        RetrievalBoundaryError for a query, k or sources outside their rules, ProviderBoundaryError and
        ProviderUnavailable for a provider's fault, DeadlineExceeded for a search that takes too long.
        """
        check_text(query)
        check_k(k)
        try:
            reader = self.store.reader()
            wanted = check_sources(reader, sources)
            if not query.strip():
                return _context(
                    "ABSTAIN_NO_QUERY", query, [], idle_receipt(self.plan, "NO_QUERY", reader), reader
                )
            ranking = rank(reader, query, self.plan, wanted)
            selected = ranking.selected(reader, k, self.plan.per_source_limit)
            handles = [ranking.handle(reader, ordinal) for ordinal, _ in selected]
            receipt = ranking_receipt(reader, self.plan, ranking, selected, wanted)
        except StoreIntegrityError as error:
            return _unavailable(self.plan, query, error)
        state: wire.ContextState = "GROUNDED_HANDLES_READY" if handles else "ABSTAIN_NO_GROUNDED_HANDLES"
        return _context(state, query, handles, receipt, reader)


def navigator_context(query: str, k: int = 6, *, store: Store | None = None) -> wire.NavigatorContext:
    """Return handles and evidence for a navigator model, without the receipt; as BM25 ranks them.

    Raises as :meth:`HybridSecondBrain.context` does.
    """
    context = HybridSecondBrain(store).context(query, k)
    payload: wire.NavigatorContext = {
        "schema": "szl.brain.navigator-context/v1",
        "state": context["state"],
        "ready": context["ready"],
        "query_sha256": context["query_sha256"],
        "generation_sha256": context["generation_sha256"],
        "handles": context["handles"],
        "evidence": context["evidence"],
        "evidence_set_sha256": context["evidence_set_sha256"],
        "handles_sha256": context["handles_sha256"],
        "corpus_n": context["corpus_n"],
        "grounded_count": len(context["handles"]),
        "handle_evidence_set_equivalent": canonical_sha256(evidence(context["handles"]))
        == context["evidence_set_sha256"],
        **wire.boundary(),
    }
    if "error_type" in context:
        payload["error_type"] = context["error_type"]
    return payload


def _context(
    state: wire.ContextState,
    query: str,
    handles: list[wire.Handle],
    receipt: wire.RankingReceipt,
    reader: Reader | None,
    error_type: str | None = None,
) -> wire.Context:
    bound = evidence(handles)
    context: wire.Context = {
        "schema": "szl.second-brain.hybrid-context/v1",
        "state": state,
        "ready": bool(handles),
        "query_sha256": sha256_text(query),
        "generation_sha256": receipt["generation_sha256"],
        "handles": handles,
        "evidence": bound,
        "evidence_set_sha256": canonical_sha256(bound),
        "handles_sha256": canonical_sha256(handles),
        "ranking_receipt": receipt,
        "corpus_n": reader.snapshot.chunk_count if reader is not None else 0,
        "context_sha256": "",
        **wire.boundary(),
    }
    if error_type is not None:
        context["error_type"] = error_type
    context["context_sha256"] = context_sha256(context)
    return context


def _unavailable(plan: Plan, query: str, error: StoreIntegrityError) -> wire.Context:
    receipt = idle_receipt(plan, "STORE_UNAVAILABLE", None)
    return _context("UNAVAILABLE", query, [], receipt, None, type(error).__name__)
