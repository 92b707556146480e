"""One query put to the index: what every face of retrieval begins with."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from secondbrain.errors import RetrievalBoundaryError
from secondbrain.retrieval.bm25 import Scored, sparse_candidates
from secondbrain.retrieval.coverage import Weighed, weighed
from secondbrain.retrieval.query import AliasSide, Query, alias_sides, parse
from secondbrain.store.opened import Reader

MAX_K = 12
"""Most handles of one answer."""
_NAMED = 12


class Asked(NamedTuple):
    """A query, the weights of its terms, and the candidates of the sparse leg, best first."""

    query: Query
    terms: list[Weighed]
    candidates: list[Scored]


def ask(reader: Reader, text: str, sources: Sequence[str] | None = None) -> Asked:
    """Put a text to the index of chunks; errors as :meth:`Reader.rows` has them."""
    query = parsed(reader, text)
    return Asked(query, weighed(reader, query.terms), sparse_candidates(reader, query.expression(), sources))


def parsed(reader: Reader, text: str) -> Query:
    """Parse a text with the aliases of the reader's generation."""
    sides: tuple[AliasSide, ...] | None = reader.memo.get("alias_sides")
    if sides is None:
        sides = reader.memo["alias_sides"] = alias_sides(reader.snapshot.aliases, reader.tokens)
    return parse(text, reader.tokens, sides)


def check_k(k: object, most: int = MAX_K) -> int:
    """Return k if it is a whole number from 1 to ``most``; RetrievalBoundaryError otherwise."""
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= most:
        raise RetrievalBoundaryError(f"k is no whole number from 1 to {most}")
    return k


def check_sources(reader: Reader, sources: object) -> list[str] | None:
    """Return the sources to keep, sorted, or None for all.

    Raises RetrievalBoundaryError for an empty selection and for a source that the corpus lacks.
    """
    if sources is None:
        return None
    if isinstance(sources, str) or not isinstance(sources, Sequence) or not sources:
        raise RetrievalBoundaryError("sources is a list of one or more names of sources, or nothing")
    for source in sources:
        if not isinstance(source, str) or source not in reader.snapshot.sources:
            known = ", ".join(islice(reader.snapshot.sources, _NAMED))
            more = ", …" if len(reader.snapshot.sources) > _NAMED else ""
            raise RetrievalBoundaryError(
                f"sources names {source!r}, which this corpus lacks; it has {known}{more}"
            )
    return sorted(set(sources))
