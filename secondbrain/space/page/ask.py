"""The Ask view: one context, read back to the person who asked.

Everything shown comes from the context and the person's own query: the page ranks nothing by itself.
"""

import json
from dataclasses import dataclass

from secondbrain import wire
from secondbrain.retrieval.coverage import STRAY_FROM_TERMS
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.space.page import meanings, svg, words

EXAMPLES = (
    "What is the Λ uniqueness conjecture?",
    "receipt chain associativity",
    "reciprocal rank fusion",
    "GitHub artifact attestations",
    "quantum error correction code distance",
    "best croissant recipe in Paris",
)
"""Questions to begin with; the last is one that the brain refuses."""


@dataclass(frozen=True)
class Leg:
    """What one component said of a handle."""

    name: str
    rank: int
    score: float
    given: float
    """What it added to the fused score."""


@dataclass(frozen=True)
class Card:
    """One ranked handle, with why it stands where it stands."""

    place: int
    handle: wire.Handle
    words: list[words.Stretch]
    coverage: float
    legs: list[Leg]
    shares: list[svg.Segment]
    fused_score: float
    reranker_rank: int | None
    reranker_score: float | None


@dataclass(frozen=True)
class Decision:
    """The rule of grounding against what the best candidate held."""

    rule: wire.AbstentionRule
    counted: int
    """Counted words of the query, as the rule counts them."""
    coverage_applies: bool
    coverage_met: bool
    held_applies: bool
    held_met: bool


@dataclass(frozen=True)
class Answer:
    """Everything that the Ask view shows for one query."""

    query: str
    k: int
    context: wire.Context
    mode: meanings.Mode
    cards: list[Card]
    read: list[words.ReadWord]
    reading: list[words.Stretch]
    decision: Decision
    aliases: list[str]
    receipt_json: str


def answer(brain: HybridSecondBrain, query: str, k: int) -> Answer:
    """Ask the brain and read its context back; raises as :meth:`HybridSecondBrain.context` does."""
    context = brain.context(query, k)
    receipt = context["ranking_receipt"]
    terms = receipt["terms"]
    return Answer(
        query=query,
        k=k,
        context=context,
        mode=meanings.mode(receipt["mode"]),
        cards=[
            _card(query, receipt, handle, node)
            for handle, node in zip(context["handles"], receipt["selected"], strict=True)
        ],
        read=words.read_words(query, terms, context["corpus_n"]),
        reading=words.stretches(query, terms, range(len(terms))),
        decision=decision(receipt["abstention"], len(terms)),
        aliases=_aliases(brain, receipt),
        receipt_json=json.dumps(context, ensure_ascii=False, allow_nan=False, indent=2),
    )


def legs(receipt: wire.RankingReceipt, node: wire.SelectedNode) -> list[Leg]:
    """Return what each leg added to a node's fused score: weight / (rrf_k + rank)."""
    found: list[Leg] = []
    for name, weight, rank, score in (
        ("sparse", receipt["sparse_weight"], node["sparse_rank"], node["sparse_score"]),
        ("dense", receipt["dense_weight"], node["dense_rank"], node["dense_score"]),
    ):
        if rank is not None and score is not None:
            found.append(Leg(name, rank, score, weight / (receipt["rrf_k"] + rank)))
    return found


def decision(rule: wire.AbstentionRule, counted: int) -> Decision:
    """Say which parts of the rule of grounding apply to a query of so many terms, and which were met.

    The rule is that of :class:`secondbrain.retrieval.coverage.GroundingRule`; its numbers are the receipt's.
    """
    return Decision(
        rule=rule,
        counted=counted,
        coverage_applies=counted < rule["long_query_terms"],
        coverage_met=rule["best_coverage"] >= rule["min_coverage"],
        held_applies=counted >= STRAY_FROM_TERMS,
        held_met=rule["best_held_terms"] >= rule["min_held_terms"],
    )


def _card(query: str, receipt: wire.RankingReceipt, handle: wire.Handle, node: wire.SelectedNode) -> Card:
    gave = legs(receipt, node)
    return Card(
        place=node["rank"],
        handle=handle,
        words=words.counted_words(query, receipt["terms"], node["held_terms"]),
        coverage=node["coverage"],
        legs=gave,
        shares=svg.stacked([(leg.name, leg.given) for leg in gave], _most(receipt)),
        fused_score=node["fused_score"],
        reranker_rank=node["reranker_rank"],
        reranker_score=node["reranker_score"],
    )


def _most(receipt: wire.RankingReceipt) -> float:
    """Return the fused score of a node that is first in every ranking which ran."""
    weights = [receipt[f"{leg}_weight"] for leg in ("sparse", "dense") if receipt[leg] == "OK"]  # type: ignore[literal-required]
    return float(sum(weights)) / (receipt["rrf_k"] + 1)


def _aliases(brain: HybridSecondBrain, receipt: wire.RankingReceipt) -> list[str]:
    if not receipt["aliases"]:
        return []
    table = {row: f"{term} = {same_as}" for row, term, same_as in brain.store.snapshot().aliases}
    # The file may have been replaced since the ranking: a row that is gone is not named.
    return sorted({table[use["row"]] for use in receipt["aliases"] if use["row"] in table})
