"""The Frontier view: what discovery found, all of it waiting for a person.

PROOF_STATUS, the reported status and the locked set are three things: what a program states of itself,
what a record says of itself, and what doctrine declares. They are gathered apart, and nothing here
joins one to another.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import groupby

from secondbrain import wire
from secondbrain.errors import IntegrityError, RetrievalBoundaryError
from secondbrain.retrieval.frontier import MAX_K as MOST_FOUND
from secondbrain.retrieval.frontier import frontier_handles, frontier_search, verified_frontier
from secondbrain.space.page import svg
from secondbrain.store.opened import Store


@dataclass(frozen=True)
class StatedStatus:
    """One spelling of a status, and the candidates that carry it."""

    status: str
    titles: list[str]


@dataclass(frozen=True)
class Kind:
    """The candidates of one kind."""

    name: str
    handles: list[wire.FrontierHandle]


@dataclass(frozen=True)
class Frontier:
    """Everything that the Frontier view shows."""

    state: wire.FrontierState
    by_source: list[svg.Bar]
    by_kind: list[svg.Bar]
    by_quant_domain: list[svg.Bar]
    proof_status: list[StatedStatus]
    reported_status: list[StatedStatus]
    locked_proven: tuple[str, ...]
    kinds: list[Kind]
    shown: int
    filters: dict[str, str]
    query: str | None


@dataclass(frozen=True)
class NoFrontier:
    """The set is absent or fails its check: the error's type alone."""

    error_type: str


def frontier(store: Store, filters: dict[str, str], query: str | None) -> Frontier | NoFrontier:
    """Gather the view, narrowed by filters and ordered by a query where one is given.

    Raises RetrievalBoundaryError for a filter or query outside its rules.
    """
    try:
        reader = store.reader()
        state = verified_frontier(reader)
        handles = list(frontier_handles(reader).values())
    except IntegrityError as error:
        return NoFrontier(type(error).__name__)
    sources = {(source["repository"], source["path"]): source["source_id"] for source in state["sources"]}
    listed = (
        _found(store, query, filters) if query and query.strip() else _narrowed(handles, filters, sources)
    )
    return Frontier(
        state=state,
        by_source=svg.bars({source["source_id"]: source["candidate_count"] for source in state["sources"]}),
        by_kind=svg.bars(state["source_kind_counts"]),
        by_quant_domain=svg.bars(state["quant_domain_counts"]),
        proof_status=_stated(handles, "proofStatus"),
        reported_status=_stated(handles, "reportedStatus"),
        locked_proven=wire.LOCKED_PROVEN,
        kinds=[
            Kind(name, list(members))
            for name, members in groupby(sorted(listed, key=lambda one: one["kind"]), lambda one: one["kind"])
        ],
        shown=len(listed),
        filters=filters,
        query=query,
    )


def _narrowed(
    handles: list[wire.FrontierHandle], filters: dict[str, str], sources: dict[tuple[str, str], str]
) -> list[wire.FrontierHandle]:
    def values(one: wire.FrontierHandle) -> dict[str, str | None]:
        return {
            "kind": one["kind"],
            "source_id": sources.get((one["repository"], one["path"])),
            "quant_domain": one.get("quantDomain"),
        }

    for name, wanted in filters.items():
        if not any(values(one)[name] == wanted for one in handles):
            raise RetrievalBoundaryError(f"{name} names {wanted!r}, which this frontier set lacks")
    return [one for one in handles if all(values(one)[name] == wanted for name, wanted in filters.items())]


def _found(store: Store, query: str, filters: dict[str, str]) -> list[wire.FrontierHandle]:
    return frontier_search(
        query,
        MOST_FOUND,
        kind=filters.get("kind"),
        source_id=filters.get("source_id"),
        quant_domain=filters.get("quant_domain"),
        store=store,
    )["handles"]


def _stated(handles: list[wire.FrontierHandle], field: str) -> list[StatedStatus]:
    carried: list[tuple[str, str]] = [(str(one[field]), one["title"]) for one in handles if field in one]  # type: ignore[literal-required]
    counts = Counter(status for status, _ in carried)
    return [
        StatedStatus(status, sorted(title for own, title in carried if own == status))
        for status, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
