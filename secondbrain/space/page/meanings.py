"""What the states and modes of the wire mean, in words for a person. One table each, shown and tested."""

from typing import NamedTuple

STATES = {
    "GROUNDED_HANDLES_READY": "The index holds enough of the question; the handles of the ranking are given.",
    "ABSTAIN_NO_GROUNDED_HANDLES": "A decision: nothing stored holds enough of the question.",
    "ABSTAIN_NO_QUERY": "Nothing was asked, so nothing was ranked.",
    "UNAVAILABLE": "The stored file fails its own check. Nothing is given until it is built anew.",
    "REVIEW_REQUIRED": "Frontier candidates wait for a person. Nothing about them is decided here.",
}
"""State of a payload → its meaning."""

BASE_MODES = {
    "NOT_RUN": "Nothing was asked, or nothing could run.",
    "BM25_ONLY": "Words alone made this ranking: a full-text index, no vectors, no model.",
    "HYBRID_SPARSE_DENSE": "Two rankings, by words and by vectors, were fused by rank.",
    "BM25_FALLBACK_DENSE_UNAVAILABLE": "The vector provider was out of reach; words alone made this ranking.",
}
MODE_ENDINGS = {
    "RERANKER": "A reranker then put the first candidates in order.",
    "RERANKER_UNAVAILABLE": "The reranker was out of reach; the order is that of fusion.",
}

VERDICTS = {
    "VERIFIED": "Every digest holds, and every handle is the stored one.",
    "STALE": "The receipt belongs to another generation than the one that is open.",
    "TAMPERED": "A digest does not hold: this is not what was given out.",
}
"""State of a receipt's verification → its meaning."""

LEAVES = (
    "Handles: node id, title, source, digest.",
    "Evidence: the digests that bind each handle to a stored text.",
    "Receipts: ranks, scores, weights and places of words, as numbers.",
    "Counts, states and digests of what is stored.",
)
NEVER = (
    "The text of a chunk or candidate. Controllers get it in their own process, authorised node by node.",
    "Your question: a receipt carries its digest and the places of its words.",
    "The private graph. Its size is declared; none of it is loaded.",
    "A promotion: no rank, filter or status string here makes anything proven.",
)


class Mode(NamedTuple):
    """A mode with its meaning."""

    name: str
    meaning: str


def mode(name: str) -> Mode:
    """Return a mode with its meaning, the ending's after the base's."""
    base, _, ending = name.partition("+")
    return Mode(name, " ".join([BASE_MODES[base], *([MODE_ENDINGS[ending]] if ending else [])]))
