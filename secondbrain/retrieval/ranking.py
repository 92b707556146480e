"""One ranking from query to order: the legs, their fusion, grounding, and the reranker.

The rules, in the order in which they are kept:

 1. A query without a single word has nothing to search for: no leg runs. Otherwise the sparse leg runs,
    and the dense leg where a provider is configured; what it answers is held against the generation
    before it counts.
 2. An outage of a provider falls back only where the coordinator allows it; the mode then says so. Any
    other fault of a provider blocks the request.
 3. Legs are fused by rank. Ties fall to the node id, so the order that a provider chose among equal
    scores changes nothing.
 4. The answer is grounded, or there is none: by the coverage of the best sparse candidate, or, where a
    dense leg ran, by a dense score that reaches the binding's floor.
 5. The reranker orders the first RERANK_DEPTH candidates anew; those behind keep their places.
 6. A mode names only what took part.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from secondbrain import wire
from secondbrain.digests import is_unicode
from secondbrain.errors import ProviderUnavailable
from secondbrain.projection.admission import CHARACTERS
from secondbrain.retrieval.asking import Asked, ask
from secondbrain.retrieval.bm25 import DEPTH
from secondbrain.retrieval.coverage import GroundingRule, Held, held
from secondbrain.retrieval.fusion import PER_SOURCE_LIMIT, RRF_K, Fused, diverse, fuse, ranks
from secondbrain.retrieval.handles import handle
from secondbrain.retrieval.providers import (
    DenseBinding,
    DenseHit,
    DenseProvider,
    Node,
    Reranker,
    RerankerBinding,
    check_nodes,
    dense_hits,
    reranker_scores,
)
from secondbrain.store.opened import Reader

RERANK_DEPTH = 48
"""Candidates that a reranker orders: four times the most handles of an answer."""


@dataclass(frozen=True)
class Plan:
    """How a coordinator ranks: providers, weights, limits and fallbacks."""

    dense_provider: DenseProvider | None = None
    reranker: Reranker | None = None
    sparse_weight: float = 1.0
    dense_weight: float = 1.0
    rrf_k: int = RRF_K
    per_source_limit: int = PER_SOURCE_LIMIT
    allow_sparse_fallback: bool = True
    allow_reranker_fallback: bool = True
    grounding: GroundingRule = field(default_factory=GroundingRule)


@dataclass
class DenseLeg:
    """What the dense leg gave: hits of this generation, best first."""

    state: wire.ComponentState
    reason: wire.ComponentReason | None = None
    binding: DenseBinding | None = None
    ordinals: list[int] = field(default_factory=list)
    scores: dict[int, float] = field(default_factory=dict)


@dataclass
class RerankerLeg:
    """What the reranker gave: ordinal → score of the candidates that it ordered."""

    state: wire.ComponentState
    reason: wire.ComponentReason | None = None
    binding: RerankerBinding | None = None
    scores: dict[int, float] = field(default_factory=dict)


@dataclass
class Ranking:
    """A whole ranking before it is cut to k."""

    asked: Asked
    dense: DenseLeg
    fused: list[Fused]
    best: Held
    grounded_by: wire.GroundedBy
    reranker: RerankerLeg
    order: list[Fused]
    """Fused candidates in their final order, source diversity not yet applied; empty where not grounded."""
    handles: dict[int, wire.Handle]
    """Handles that were read so far, by ordinal."""

    @property
    def mode(self) -> str:
        """The mode of the ranking, by rule 6."""
        if not self.asked.terms:
            return "NOT_RUN"
        mode = {
            "OK": "HYBRID_SPARSE_DENSE",
            "UNAVAILABLE": "BM25_FALLBACK_DENSE_UNAVAILABLE",
        }.get(self.dense.state, "BM25_ONLY")
        suffix = {"OK": "+RERANKER", "UNAVAILABLE": "+RERANKER_UNAVAILABLE"}
        return mode + suffix.get(self.reranker.state, "")

    def selected(self, reader: Reader, k: int, per_source_limit: int) -> list[Fused]:
        """Return the first k candidates, at most ``per_source_limit`` of one source."""
        return list(
            islice(
                diverse(self.order, lambda one: self.handle(reader, one[0])["source"], per_source_limit), k
            )
        )

    def handle(self, reader: Reader, ordinal: int) -> wire.Handle:
        """Return a candidate's handle, read once."""
        if ordinal not in self.handles:
            self.handles[ordinal] = handle(reader, ordinal)
        return self.handles[ordinal]


def rank(reader: Reader, text: str, plan: Plan, sources: Sequence[str] | None = None) -> Ranking:
    """Rank the chunks of a generation for a query that is not blank.

    Raises ProviderBoundaryError for a provider that misbehaves, ProviderUnavailable for an outage
    that the plan does not let fall back, and what :meth:`Reader.rows` raises.
    """
    asked = ask(reader, text, sources)
    dense = _dense_leg(reader, text, plan, sources) if asked.terms else _idle_dense_leg(plan)
    fused = fuse(
        [
            ([ordinal for ordinal, _ in asked.candidates], plan.sparse_weight),
            (dense.ordinals, plan.dense_weight),
        ],
        plan.rrf_k,
    )
    best = held(reader, asked.candidates[0][0], asked.terms) if asked.candidates else Held((), 0.0)
    ranking = Ranking(
        asked=asked,
        dense=dense,
        fused=fused,
        best=best,
        grounded_by=_grounded_by(asked, dense, best, plan.grounding),
        reranker=RerankerLeg("NOT_CONFIGURED"),
        order=[],
        handles={},
    )
    if ranking.grounded_by != "NOTHING":
        ranking.order = list(fused)
    _rerank(reader, text, plan, ranking)
    return ranking


def _idle_dense_leg(plan: Plan) -> DenseLeg:
    return DenseLeg("NOT_CONFIGURED") if plan.dense_provider is None else DenseLeg("NOT_RUN", "NO_TERMS")


def _dense_leg(reader: Reader, text: str, plan: Plan, sources: Sequence[str] | None) -> DenseLeg:
    if plan.dense_provider is None:
        return DenseLeg("NOT_CONFIGURED")
    try:
        binding, hits = dense_hits(plan.dense_provider, text, DEPTH, reader.snapshot.generation_sha256)
    except ProviderUnavailable:
        if not plan.allow_sparse_fallback:
            raise
        return DenseLeg("UNAVAILABLE", "PROVIDER_UNAVAILABLE")
    reader.restart_deadline()  # the provider's time is not the store's
    nodes = _nodes(reader, hits)
    check_nodes(hits, nodes)
    kept = [hit for hit in hits if sources is None or nodes[hit.node_id].source in sources]
    scores = {nodes[hit.node_id].ordinal: float(hit.score) for hit in kept}
    return DenseLeg(
        "OK", None, binding, sorted(scores, key=lambda ordinal: (-scores[ordinal], ordinal)), scores
    )


def _nodes(reader: Reader, hits: Sequence[DenseHit]) -> dict[str, Node]:
    # What cannot be an id is unknown: the database is not asked for it.
    ids = [hit.node_id for hit in hits if len(hit.node_id) <= CHARACTERS["id"] and is_unicode(hit.node_id)]
    rows = reader.rows("read/nodes", (json.dumps(ids),))
    return {node_id: Node(*place) for node_id, *place in rows}


def _grounded_by(asked: Asked, dense: DenseLeg, best: Held, rule: GroundingRule) -> wire.GroundedBy:
    if asked.candidates and rule.grounds(best, len(asked.terms)):
        return "SPARSE"
    if dense.state == "OK" and dense.ordinals:
        floor = dense.binding.grounding_floor if dense.binding is not None else None
        if floor is None or dense.scores[dense.ordinals[0]] >= floor:
            return "DENSE"
    return "NOTHING"


def _rerank(reader: Reader, text: str, plan: Plan, ranking: Ranking) -> None:
    if plan.reranker is None:
        return
    head = ranking.order[:RERANK_DEPTH]
    if not head:
        ranking.reranker = RerankerLeg("NOT_RUN", "NO_CANDIDATES")
        return
    handles = [ranking.handle(reader, ordinal) for ordinal, _ in head]
    try:
        binding, by_node = reranker_scores(plan.reranker, text, handles)
    except ProviderUnavailable:
        if not plan.allow_reranker_fallback:
            raise
        ranking.reranker = RerankerLeg("UNAVAILABLE", "PROVIDER_UNAVAILABLE")
        return
    reader.restart_deadline()
    scores = {one[0]: float(by_node[handle["nodeId"]]) for one, handle in zip(head, handles, strict=True)}
    place = ranks(ordinal for ordinal, _ in head)
    head.sort(key=lambda one: (-scores[one[0]], place[one[0]]))
    ranking.order[:RERANK_DEPTH] = head
    ranking.reranker = RerankerLeg("OK", None, binding, scores)
