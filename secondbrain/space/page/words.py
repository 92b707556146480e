"""The receipt's places, mapped back onto the person's own words.

A receipt names terms by their place in the query and never by their letters, so that it may be kept
where the query may not. Only the page, which was given the query, can put the two together again.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from secondbrain import wire
from secondbrain.retrieval.coverage import idf

Standing = Literal["held", "lacking", "uncounted"]


class Stretch(NamedTuple):
    """A run of the query's characters that stand alike; ``uncounted`` is what coverage does not count."""

    text: str
    standing: Standing


class ReadWord(NamedTuple):
    """One counted word of the query: how much it weighs, and whether any chunk holds it."""

    text: str
    weight: float
    """Its share of the query's idf weight, 0 to 1."""
    unknown: bool
    """No chunk of the corpus holds it."""


def stretches(query: str, terms: Sequence[wire.QueryTerm], held_terms: Iterable[int]) -> list[Stretch]:
    """Split the whole query into stretches by what a chunk holds of it.

    Terms may overlap (pairs of Han characters, parts of ``OpenFile``): a character that any held term
    covers counts as held.
    """
    standing: list[Standing] = ["uncounted"] * len(query)
    held = set(held_terms)
    for wanted, name in ((False, "lacking"), (True, "held")):
        for index, term in enumerate(terms):
            if (index in held) is wanted:
                standing[term["start"] : term["end"]] = [name] * (term["end"] - term["start"])  # type: ignore[list-item]
    runs = groupby(range(len(query)), key=standing.__getitem__)
    return [Stretch("".join(query[at] for at in places), name) for name, places in runs]


def counted_words(query: str, terms: Sequence[wire.QueryTerm], held_terms: Iterable[int]) -> list[Stretch]:
    """Return the counted words of a query, each spelling once, in the order of the query."""
    found: dict[tuple[str, Standing], Stretch] = {}
    for stretch in stretches(query, terms, held_terms):
        if stretch.standing != "uncounted":
            found.setdefault((stretch.text.casefold(), stretch.standing), stretch)
    return list(found.values())


def read_words(query: str, terms: Sequence[wire.QueryTerm], corpus_n: int) -> list[ReadWord]:
    """Return how the query was read: its counted words with their weights, in the order of the query."""
    total = sum(term["idf"] for term in terms)
    rarest = idf(corpus_n, 0)
    spans: dict[tuple[int, int], list[float]] = {}
    for term in terms:
        spans.setdefault((term["start"], term["end"]), []).append(term["idf"])
    return [
        ReadWord(query[start:end], sum(weights) / total, all(weight >= rarest for weight in weights))
        for (start, end), weights in sorted(spans.items())
    ]
