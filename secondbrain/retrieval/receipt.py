"""The ranking receipt: how a ranking came about, in digests and numbers, without a word of query or text."""

from secondbrain import wire
from secondbrain.digests import canonical_sha256
from secondbrain.retrieval.bm25 import DEPTH
from secondbrain.retrieval.coverage import GroundingRule, held
from secondbrain.retrieval.fusion import Fused, ranks
from secondbrain.retrieval.providers import DenseBinding, RerankerBinding
from secondbrain.retrieval.ranking import Plan, Ranking
from secondbrain.store.opened import Reader


def idle_receipt(
    plan: Plan, reason: wire.ComponentReason | None, reader: Reader | None
) -> wire.RankingReceipt:
    """Return the receipt of a request in which nothing ran, for a reason; the frame of all others."""
    return {
        "mode": "NOT_RUN",
        "sparse": "NOT_RUN",
        "sparse_reason": reason,
        "dense": "NOT_RUN" if plan.dense_provider is not None else "NOT_CONFIGURED",
        "dense_reason": reason if plan.dense_provider is not None else None,
        "reranker": "NOT_RUN" if plan.reranker is not None else "NOT_CONFIGURED",
        "reranker_reason": reason if plan.reranker is not None else None,
        "dense_binding": None,
        "reranker_binding": None,
        "fusion": "RECIPROCAL_RANK_FUSION",
        "rrf_k": plan.rrf_k,
        "sparse_weight": plan.sparse_weight,
        "dense_weight": plan.dense_weight,
        "candidate_depth": DEPTH,
        "candidates": {"sparse": 0, "dense": 0, "fused": 0, "selected": 0},
        "per_source_limit": plan.per_source_limit,
        "sources": None,
        "terms": [],
        "aliases": [],
        "abstention": {
            **_rule(plan.grounding),
            "best_coverage": 0.0,
            "best_held_terms": 0,
            "grounded_by": "NOT_APPLIED",
        },
        "selected": [],
        "generation_sha256": reader.snapshot.generation_sha256 if reader is not None else None,
    }


def ranking_receipt(
    reader: Reader, plan: Plan, ranking: Ranking, selected: list[Fused], sources: list[str] | None
) -> wire.RankingReceipt:
    """Return the receipt of a ranking, of which ``selected`` became handles."""
    sparse_scores = dict(ranking.asked.candidates)
    sparse_ranks, dense_ranks = ranks(sparse_scores), ranks(ranking.dense.ordinals)
    reranked = ranks(ordinal for ordinal, _ in ranking.order if ordinal in ranking.reranker.scores)
    nodes: list[wire.SelectedNode] = []
    for place, (ordinal, score) in enumerate(selected, 1):
        holds = held(reader, ordinal, ranking.asked.terms)
        nodes.append(
            {
                "node_id": ranking.handle(reader, ordinal)["nodeId"],
                "rank": place,
                "sparse_rank": sparse_ranks.get(ordinal),
                "sparse_score": sparse_scores.get(ordinal),
                "dense_rank": dense_ranks.get(ordinal),
                "dense_score": ranking.dense.scores.get(ordinal),
                "fused_score": score,
                "reranker_rank": reranked.get(ordinal),
                "reranker_score": ranking.reranker.scores.get(ordinal),
                "held_terms": list(holds.terms),
                "coverage": holds.coverage,
            }
        )
    receipt = idle_receipt(plan, None, reader)
    receipt.update(
        {
            "mode": ranking.mode,
            "sparse": "OK" if ranking.asked.terms else "NOT_RUN",
            "sparse_reason": None if ranking.asked.terms else "NO_TERMS",
            "dense": ranking.dense.state,
            "dense_reason": ranking.dense.reason,
            "reranker": ranking.reranker.state,
            "reranker_reason": ranking.reranker.reason,
            "dense_binding": dense_payload(ranking.dense.binding),
            "reranker_binding": reranker_payload(ranking.reranker.binding),
            "candidates": {
                "sparse": len(ranking.asked.candidates),
                "dense": len(ranking.dense.ordinals),
                "fused": len(ranking.fused),
                "selected": len(selected),
            },
            "sources": sources,
            "terms": [
                {"start": term.start, "end": term.end, "idf": idf} for term, idf in ranking.asked.terms
            ],
            "aliases": [
                {"row": row, "terms": list(terms)} for row, terms in ranking.asked.query.alias_matches
            ],
            "abstention": abstention(plan.grounding, ranking),
            "selected": nodes,
        }
    )
    return receipt


def context_sha256(context: wire.Context) -> str:
    """Return the digest that binds a whole context: over its canonical JSON without the digest itself.

    Raises ValueError, TypeError or RecursionError for what canonical JSON cannot hold.
    """
    return canonical_sha256({name: value for name, value in context.items() if name != "context_sha256"})


def abstention(rule: GroundingRule, ranking: Ranking) -> wire.AbstentionRule:
    """Return the rule of grounding and what it found for the best candidate."""
    return {
        **_rule(rule),
        "best_coverage": ranking.best.coverage,
        "best_held_terms": len(ranking.best.terms),
        "grounded_by": ranking.grounded_by,
    }


def dense_payload(binding: DenseBinding | None) -> wire.DenseBindingPayload | None:
    """Return a dense binding as it stands in payloads."""
    if binding is None:
        return None
    return {
        "model": binding.model,
        "revision": binding.revision,
        "dimensions": binding.dimensions,
        "generation_sha256": binding.generation_sha256,
        "grounding_floor": binding.grounding_floor,
    }


def reranker_payload(binding: RerankerBinding | None) -> wire.RerankerBindingPayload | None:
    """Return a reranker's binding as it stands in payloads."""
    return None if binding is None else {"model": binding.model, "revision": binding.revision}


def _rule(rule: GroundingRule) -> wire.GroundingParameters:
    return {
        "min_coverage": rule.min_coverage,
        "min_held_terms": rule.min_held_terms,
        "long_query_terms": rule.long_query_terms,
    }
