"""nDCG@10, recall@100 and MRR@10 by ir-measures, which runs trec_eval's own code.

Two things can be measured: the ranked leg at its whole depth, before diversity and abstention; and what
``context()`` gives, at most 12 handles after both.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from secondbrain.errors import ConfigurationError, RetrievalBoundaryError
from secondbrain.retrieval.asking import MAX_K, ask
from secondbrain.retrieval.handles import handle
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.retrieval.query import check_text
from secondbrain.store.opened import Reader, Store

MEASURES = {"nDCG@10": "nDCG@10", "recall@100": "R@100", "MRR@10": "RR@10"}
"""The field's names → ir-measures' spellings. RR@10, averaged over queries, is MRR@10."""
Run = dict[str, list[tuple[str, float]]]
"""Query id → (document id, score), best first; a larger score is better."""


class Evaluation(NamedTuple):
    """What a run scored: measure → mean over the judged queries, and query id → nDCG@10."""

    means: dict[str, float]
    per_query: dict[str, float]
    queries: int
    refused: int
    """Queries that the engine refuses by rule (too long, no Unicode); they count as nothing found."""


def leg_run(store: Store, queries: Mapping[str, str]) -> tuple[Run, int]:
    """Return what the ranked leg finds for each query, and how many queries were refused."""
    reader = store.reader()
    ids: dict[int, str] = {}
    run: Run = {}
    refused = 0
    for query_id, text in queries.items():
        reader.restart_deadline()
        try:
            found = ask(reader, check_text(text)).candidates
        except RetrievalBoundaryError:
            found, refused = [], refused + 1
        run[query_id] = [(_node_id(reader, ordinal, ids), -score) for ordinal, score in found]
    return run, refused


def context_run(brain: HybridSecondBrain, queries: Mapping[str, str]) -> tuple[Run, int]:
    """Return what ``context()`` gives for each query at its largest k, and how many were refused."""
    run: Run = {}
    refused = 0
    for query_id, text in queries.items():
        try:
            handles = brain.context(text, MAX_K)["handles"]
        except RetrievalBoundaryError:
            handles, refused = [], refused + 1
        run[query_id] = [(one["nodeId"], 1.0 / rank) for rank, one in enumerate(handles, 1)]
    return run, refused


def known_documents(store: Store, judgements: Mapping[str, Mapping[str, int]]) -> int:
    """Return how many of the judged documents a store holds."""
    judged = {document_id for grades in judgements.values() for document_id in grades}
    return len(store.reader().rows("read/nodes", (json.dumps(sorted(judged)),)))


def evaluate(run: Run, judgements: Mapping[str, Mapping[str, int]], refused: int = 0) -> Evaluation:
    """Score a run against judgements.

    Raises ConfigurationError where ir-measures, the extra ``eval``, is not installed.
    """
    try:
        import ir_measures
    except ImportError:
        raise ConfigurationError(
            "measuring needs the extra eval: pip install 'szl-second-brain[eval]'"
        ) from None
    measures = {name: ir_measures.parse_measure(spelling) for name, spelling in MEASURES.items()}
    qrels = [
        ir_measures.Qrel(query_id, document_id, grade)
        for query_id, grades in judgements.items()
        for document_id, grade in grades.items()
    ]
    scored = [ir_measures.ScoredDoc(query_id, *one) for query_id, found in run.items() for one in found]
    result: Any = ir_measures.calc(list(measures.values()), qrels, scored)
    per_query = {one.query_id: one.value for one in result[1] if one.measure == measures["nDCG@10"]}
    return Evaluation(
        means={name: float(result[0][measure]) for name, measure in measures.items()},
        # A query for which nothing was found has no value of its own.
        per_query={query_id: float(per_query.get(query_id, 0.0)) for query_id in judgements},
        queries=len(judgements),
        refused=refused,
    )


def _node_id(reader: Reader, ordinal: int, known: dict[int, str]) -> str:
    if ordinal not in known:
        known[ordinal] = handle(reader, ordinal)["nodeId"]
    return known[ordinal]
