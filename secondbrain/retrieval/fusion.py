"""Fusion of rankings, and diversity of sources: pure functions of ranks.

Reciprocal rank fusion: score(d) = Σ w / (k + rank(d)) over the rankings that hold d, ranks from 1,
k = 60 (Cormack, Clarke and Büttcher, SIGIR 2009).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")
RRF_K = 60
"""The constant of the paper."""
PER_SOURCE_LIMIT = 3


Fused = tuple[int, float]
"""One candidate after fusion: ordinal and score. Plain tuples: a request makes hundreds of them."""


def fuse(rankings: Iterable[tuple[Sequence[int], float]], rrf_k: int = RRF_K) -> list[Fused]:
    """Fuse rankings, each (ordinals best first, weight); ties fall to the smaller ordinal, the node id.

    Raises ValueError where a ranking holds an ordinal twice.
    """
    scores: dict[int, float] = {}
    legs = 0
    for ordinals, weight in rankings:
        if len(set(ordinals)) != len(ordinals):
            raise ValueError("a ranking holds a candidate twice")
        legs += bool(ordinals)
        for rank, ordinal in enumerate(ordinals, rrf_k + 1):
            scores[ordinal] = scores.get(ordinal, 0.0) + weight / rank
    if legs == 1 and 0.0 not in scores.values():
        return list(scores.items())  # one ranking is in its order already
    return sorted(scores.items(), key=lambda fused: (-fused[1], fused[0]))


def diverse(candidates: Iterable[T], source: Callable[[T], str], limit: int) -> Iterator[T]:
    """Yield candidates in order, at most ``limit`` of one source; 0 turns the limit off."""
    counts: dict[str, int] = {}
    for candidate in candidates:
        name = source(candidate)
        if limit and counts.get(name, 0) >= limit:
            continue
        counts[name] = counts.get(name, 0) + 1
        yield candidate


def ranks(ordinals: Iterable[int]) -> Mapping[int, int]:
    """Return ordinal → rank from 1."""
    return {ordinal: rank for rank, ordinal in enumerate(ordinals, 1)}
