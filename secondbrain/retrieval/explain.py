"""Why a node stands where it stands for a query, or why it does not. Terms by place, no text."""

import json

from secondbrain import wire
from secondbrain.digests import is_unicode, sha256_text
from secondbrain.errors import RetrievalBoundaryError
from secondbrain.projection.admission import CHARACTERS
from secondbrain.retrieval.asking import check_k
from secondbrain.retrieval.coverage import held
from secondbrain.retrieval.fusion import ranks
from secondbrain.retrieval.handles import handle
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.retrieval.query import check_text
from secondbrain.retrieval.ranking import Ranking, rank
from secondbrain.retrieval.receipt import abstention
from secondbrain.store.opened import Reader


def explain(
    query: str, node_id: str, k: int = 6, *, brain: HybridSecondBrain | None = None
) -> wire.Explanation:
    """Explain the place of one node in the ranking that :meth:`HybridSecondBrain.context` makes.

    Raises RetrievalBoundaryError for a query or k outside its rules, a blank query, and a node that the
    corpus lacks; providers' faults and StoreIntegrityError as they come.
    """
    brain = brain if brain is not None else HybridSecondBrain()
    check_k(k)
    if not check_text(query).strip():
        raise RetrievalBoundaryError("the query is blank: there is no ranking to explain")
    reader = brain.store.reader()
    ordinal = _ordinal(reader, node_id)
    ranking = rank(reader, query, brain.plan)
    selected = [one for one, _ in ranking.selected(reader, k, brain.plan.per_source_limit)]
    sparse_scores = dict(ranking.asked.candidates)
    order = [one for one, _ in ranking.order]
    own = handle(reader, ordinal)
    above = order[: order.index(ordinal)] if ordinal in order else []
    holds = held(reader, ordinal, ranking.asked.terms)
    explanation: wire.Explanation = {
        "schema": "szl.second-brain.explanation/v1",
        "outcome": _outcome(ranking, ordinal, order, selected, k),
        "query_sha256": sha256_text(query),
        "generation_sha256": reader.snapshot.generation_sha256,
        "node_id": node_id,
        "handle": own,
        "k": k,
        "mode": ranking.mode,
        "rank": ranks(selected).get(ordinal),
        "sparse_rank": ranks(sparse_scores).get(ordinal),
        "sparse_score": sparse_scores.get(ordinal),
        "dense_rank": ranks(ranking.dense.ordinals).get(ordinal),
        "dense_score": ranking.dense.scores.get(ordinal),
        "fused_rank": ranks(one for one, _ in ranking.fused).get(ordinal),
        "fused_score": dict(ranking.fused).get(ordinal),
        "reranker_score": ranking.reranker.scores.get(ordinal),
        "terms": [
            {"start": term.start, "end": term.end, "idf": idf, "held": at in holds.terms}
            for at, (term, idf) in enumerate(ranking.asked.terms)
        ],
        "coverage": holds.coverage,
        "nodes_of_same_source_above": sum(
            ranking.handle(reader, one)["source"] == own["source"] for one in above
        ),
        "per_source_limit": brain.plan.per_source_limit,
        "abstention": abstention(brain.plan.grounding, ranking),
        **wire.boundary(),
    }
    return explanation


def _ordinal(reader: Reader, node_id: object) -> int:
    if not isinstance(node_id, str) or len(node_id) > CHARACTERS["id"] or not is_unicode(node_id):
        raise RetrievalBoundaryError("node_id is no id of a node")
    for _, ordinal, *_ in reader.rows("read/nodes", (json.dumps([node_id]),)):
        return int(ordinal)
    raise RetrievalBoundaryError(f"node_id names {node_id!r}, which this corpus lacks")


def _outcome(
    ranking: Ranking, ordinal: int, order: list[int], selected: list[int], k: int
) -> wire.ExplanationOutcome:
    if ordinal in selected:
        return "SELECTED"
    if not any(one == ordinal for one, _ in ranking.fused):
        return "NOT_A_CANDIDATE"
    if ordinal not in order:
        return "ABSTAINED"
    if len(selected) == k and order.index(ordinal) > order.index(selected[-1]):
        return "BELOW_K"
    return "SOURCE_LIMIT_REACHED"
