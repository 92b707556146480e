"""How much of a query a chunk holds, and whether that grounds an answer.

Coverage is the share of the query's idf weight that the chunk holds:

    idf = ln(1 + (N - n + 0.5) / (n + 0.5))

with N chunks, n of them holding the term (Robertson and Spärck Jones's weight as Lucene writes it,
which is never negative). A term that the corpus lacks counts as the rarest. Phrases don't count; a
word and its aliases are one term.
"""

import json
import math
from collections.abc import Sequence
from typing import NamedTuple

from secondbrain.errors import StoreIntegrityError
from secondbrain.retrieval.query import Term
from secondbrain.store.opened import Reader

STRAY_FROM_TERMS = 3
"""Terms from which on one held term alone is a stray word."""


class Weighed(NamedTuple):
    """A query term with its weight."""

    term: Term
    idf: float


class Held(NamedTuple):
    """Which terms a chunk holds, as indices into the query's terms, and their share of the weight."""

    terms: tuple[int, ...]
    coverage: float


class GroundingRule(NamedTuple):
    """When the best candidate grounds an answer; a zero turns that part off.

    It must hold ``min_held_terms`` terms of a query of three terms or more: one of three is a stray word.
    And it must cover ``min_coverage`` of the weight of a query of fewer than ``long_query_terms`` terms:
    long questions hold many words that no answer repeats. The defaults were found on half of
    ``tests/data/known-items.jsonl`` (docs/quality.md).
    """

    min_coverage: float = 0.24
    min_held_terms: int = 2
    long_query_terms: int = 8

    def grounds(self, held: Held, terms: int) -> bool:
        """Say whether a candidate that holds these terms grounds a query of so many."""
        if terms >= STRAY_FROM_TERMS and len(held.terms) < self.min_held_terms:
            return False
        return terms >= self.long_query_terms or held.coverage >= self.min_coverage


def weighed(reader: Reader, terms: Sequence[Term]) -> list[Weighed]:
    """Return the terms with their idf."""
    if not terms:
        return []
    words = {term.token for term in terms} | {
        word for term in terms for side in term.aliases for word in side
    }
    counts: dict[str, int] = dict(reader.rows("read/term_counts", (json.dumps(sorted(words)),)))
    total = reader.snapshot.chunk_count
    if not all(isinstance(count, int) and 0 < count <= total for count in counts.values()):
        raise StoreIntegrityError(f"{reader.snapshot.path}: is damaged: a word has no count; build it anew")

    def chunks(term: Term) -> int:
        # A spelling of several words is held at most as often as its rarest word.
        return max(
            [counts.get(term.token, 0), *(min(counts.get(word, 0) for word in side) for side in term.aliases)]
        )

    return [Weighed(term, idf(total, chunks(term))) for term in terms]


def idf(total: int, chunks: int) -> float:
    """Return ln(1 + (N - n + 0.5) / (n + 0.5))."""
    return math.log(1.0 + (total - chunks + 0.5) / (chunks + 0.5))


def held(reader: Reader, ordinal: int, terms: Sequence[Weighed]) -> Held:
    """Return which of the terms a chunk holds, itself or by an alias, and its coverage."""
    if not terms:
        return Held((), 0.0)
    words = reader.words_of_chunk(ordinal)
    found = tuple(
        index
        for index, (term, _) in enumerate(terms)
        if term.token in words or (term.aliases and any(map(words.issuperset, term.aliases)))
    )
    total = math.fsum(weight for _, weight in terms)
    return Held(found, math.fsum(terms[index].idf for index in found) / total)
