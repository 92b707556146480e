"""Providers: what an operator may add to the sparse leg, and what is believed of them.

The rules, each enforced on every request:

 1. A provider states a binding: its model, a pinned revision (40 hexadecimal digits, or ``sha256:`` and
    64), for a dense one also its dimensions and the generation that it indexed.
 2. A dense provider that indexed another generation is not asked.
 3. It answers with at most as many rows as asked for; a node stands once; every node is one of this
    generation, with its digest; every score is a finite number.
 4. A reranker scores each candidate that it was given, once, and no other; every score is finite.
 5. Its binding is the same before the answer and after it.
 6. Whatever else it does, raising included, blocks the request. Only ProviderUnavailable, an outage
    that the adapter itself recognised, may fall back, and the mode says so.

Each check is one function in one of the tuples below, so that a test can take it out.

Providers get the query and handles, never a text: a reranker that reads texts hydrates them itself, as
the controller that it is part of.

A provider may be called from several threads at once; it must be safe for that, or be given to one
HybridSecondBrain a thread.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar

from secondbrain import wire
from secondbrain.digests import is_pinned_revision, is_sha256, is_unicode
from secondbrain.errors import ProviderBoundaryError, ProviderUnavailable

T = TypeVar("T")

DENSE, RERANKER = "dense provider", "reranker"
MAX_DIMENSIONS = 1_000_000


@dataclass(frozen=True)
class DenseBinding:
    """What a dense provider is: model, revision, and the generation that it indexed."""

    model: str
    revision: str
    dimensions: int
    generation_sha256: str
    grounding_floor: float | None = None
    """A score from which a dense hit grounds an answer by itself; None: every dense hit does."""


@dataclass(frozen=True)
class RerankerBinding:
    """What a reranker is: model and revision."""

    model: str
    revision: str


class DenseHit(NamedTuple):
    """One row of a dense answer; a larger score is nearer."""

    node_id: str
    sha256: str
    score: float


class DenseProvider(Protocol):
    """Finds chunks by meaning. ``search`` raises ProviderUnavailable for an outage."""

    @property
    def binding(self) -> DenseBinding:
        """What this provider is bound to."""
        ...

    def search(self, query: str, limit: int) -> Sequence[DenseHit]:
        """Return at most ``limit`` hits; order does not matter."""
        ...


class Reranker(Protocol):
    """Orders candidates anew. ``score`` raises ProviderUnavailable for an outage."""

    @property
    def binding(self) -> RerankerBinding:
        """What this reranker is bound to."""
        ...

    def score(self, query: str, handles: Sequence[wire.Handle]) -> Mapping[str, float]:
        """Return node id → score for exactly these handles; a larger score is better."""
        ...


class Node(NamedTuple):
    """Where a node stands in this generation, and what it is bound to."""

    ordinal: int
    source: str
    sha256: str


def names_its_model(who: str, binding: DenseBinding | RerankerBinding) -> None:
    """The model has a name that is text."""
    if not isinstance(binding.model, str) or not binding.model.strip() or not is_unicode(binding.model):
        raise ProviderBoundaryError(f"the {who} names no model")


def pins_its_revision(who: str, binding: DenseBinding | RerankerBinding) -> None:
    """The revision is one that cannot move."""
    if not is_pinned_revision(binding.revision):
        raise ProviderBoundaryError(
            f"the {who}'s revision is not pinned: 40 hexadecimal digits, or sha256: and 64"
        )


def states_its_dimensions(who: str, binding: DenseBinding) -> None:
    """The dimensions are a number of vector components."""
    dimensions = binding.dimensions
    if (
        not isinstance(dimensions, int)
        or isinstance(dimensions, bool)
        or not 1 <= dimensions <= MAX_DIMENSIONS
    ):
        raise ProviderBoundaryError(f"the {who}'s dimensions are no whole number from 1 to {MAX_DIMENSIONS}")


def states_its_generation(who: str, binding: DenseBinding) -> None:
    """The generation is named by its digest."""
    if not is_sha256(binding.generation_sha256):
        raise ProviderBoundaryError(f"the {who}'s generation is no SHA-256")


def states_a_finite_floor(who: str, binding: DenseBinding) -> None:
    """The grounding floor, where there is one, is a finite number."""
    if binding.grounding_floor is not None and not finite(binding.grounding_floor):
        raise ProviderBoundaryError(f"the {who}'s grounding floor is no finite number")


BINDING_CHECKS = (names_its_model, pins_its_revision)
DENSE_BINDING_CHECKS = (states_its_dimensions, states_its_generation, states_a_finite_floor)


def check_dense_binding(provider: DenseProvider) -> DenseBinding:
    """Return a dense provider's binding, which keeps rule 1; ProviderBoundaryError otherwise."""
    with provider_faults(DENSE):
        binding = provider.binding
        if not isinstance(binding, DenseBinding):
            raise ProviderBoundaryError(f"the {DENSE} states no DenseBinding")
        # A copy of plain values: what is checked is what is used, whatever happens to the original.
        own = DenseBinding(
            plain(binding.model),
            plain(binding.revision),
            plain(binding.dimensions),
            plain(binding.generation_sha256),
            plain(binding.grounding_floor),
        )
        for check in (*BINDING_CHECKS, *DENSE_BINDING_CHECKS):
            check(DENSE, own)
    return own


def check_reranker_binding(reranker: Reranker) -> RerankerBinding:
    """Return a reranker's binding, which keeps rule 1; ProviderBoundaryError otherwise."""
    with provider_faults(RERANKER):
        binding = reranker.binding
        if not isinstance(binding, RerankerBinding):
            raise ProviderBoundaryError(f"the {RERANKER} states no RerankerBinding")
        own = RerankerBinding(plain(binding.model), plain(binding.revision))
        for check in BINDING_CHECKS:
            check(RERANKER, own)
    return own


def indexed_this_generation(binding: DenseBinding, generation_sha256: str) -> None:
    """The dense provider indexed the generation that is open."""
    if binding.generation_sha256 != generation_sha256:
        raise ProviderBoundaryError(f"the {DENSE} indexed another generation")


def kept_its_binding(who: str, before: object, after: object) -> None:
    """The provider is still what it was when it was asked."""
    if before != after:
        raise ProviderBoundaryError(f"the {who} changed its binding while it answered")


def is_a_sequence(answer: object) -> None:
    """The answer has a length and an order."""
    if not isinstance(answer, Sequence) or isinstance(answer, str):
        raise ProviderBoundaryError(f"the {DENSE}'s answer is no sequence of hits")


def few_enough(hits: Sequence[DenseHit], limit: int) -> None:
    """There are no more rows than were asked for."""
    if len(hits) > limit:
        raise ProviderBoundaryError(f"the {DENSE} answered with more than {limit} rows")


def all_hits(hits: Sequence[DenseHit], limit: int) -> None:
    """Every row is a DenseHit of two texts and a score."""
    for hit in hits:
        if (
            not isinstance(hit, DenseHit)
            or not isinstance(hit.node_id, str)
            or not isinstance(hit.sha256, str)
        ):
            raise ProviderBoundaryError(f"a row of the {DENSE} is no DenseHit")


def finite_scores(hits: Sequence[DenseHit], limit: int) -> None:
    """Every score is a finite number."""
    if not all(finite(hit.score) for hit in hits):
        raise ProviderBoundaryError(f"a score of the {DENSE} is no finite number")


def each_once(hits: Sequence[DenseHit], limit: int) -> None:
    """A node stands once."""
    if len({hit.node_id for hit in hits}) != len(hits):
        raise ProviderBoundaryError(f"a node stands twice in the {DENSE}'s answer")


ANSWER_CHECKS = (few_enough, all_hits, finite_scores, each_once)


def dense_hits(
    provider: DenseProvider, query: str, limit: int, generation_sha256: str
) -> tuple[DenseBinding, list[DenseHit]]:
    """Ask a dense provider; return its binding and its rows, each in form and standing once.

    That the nodes and digests are those of the generation is :func:`check_nodes`'s part. Raises
    ProviderUnavailable as the provider does, ProviderBoundaryError for all else.
    """
    binding = check_dense_binding(provider)
    indexed_this_generation(binding, generation_sha256)
    answer = asked(DENSE, lambda: provider.search(query, limit))
    with provider_faults(DENSE):
        is_a_sequence(answer)
        hits = [plain_hit(hit) for hit in islice(answer, limit + 1)]  # a sequence may lie about its length
        for check in ANSWER_CHECKS:
            check(hits, limit)
        kept_its_binding(DENSE, binding, check_dense_binding(provider))
    return binding, hits


def all_known(hits: Sequence[DenseHit], nodes: Mapping[str, Node]) -> None:
    """Every node is one of this generation."""
    if not all(hit.node_id in nodes for hit in hits):
        raise ProviderBoundaryError(f"the {DENSE} answered with an unknown node")


def all_digests_right(hits: Sequence[DenseHit], nodes: Mapping[str, Node]) -> None:
    """Every node comes with its digest."""
    if any(nodes[hit.node_id].sha256 != hit.sha256 for hit in hits if hit.node_id in nodes):
        raise ProviderBoundaryError(f"the {DENSE} answered with a wrong digest")


NODE_CHECKS = (all_known, all_digests_right)


def check_nodes(hits: Sequence[DenseHit], nodes: Mapping[str, Node]) -> None:
    """Hold the nodes and digests of a dense answer against the generation; ProviderBoundaryError."""
    for check in NODE_CHECKS:
        check(hits, nodes)


def exactly_the_candidates(scores: Mapping[str, float], handles: Sequence[wire.Handle]) -> None:
    """Each candidate is scored, and no other node."""
    if set(scores) != {handle["nodeId"] for handle in handles}:
        raise ProviderBoundaryError(f"the {RERANKER} did not score exactly the candidates that it was given")


def finite_new_scores(scores: Mapping[str, float], handles: Sequence[wire.Handle]) -> None:
    """Every score is a finite number."""
    if not all(map(finite, scores.values())):
        raise ProviderBoundaryError(f"a score of the {RERANKER} is no finite number")


SCORE_CHECKS = (exactly_the_candidates, finite_new_scores)


def is_a_mapping(answer: object) -> None:
    """The answer maps node ids to scores."""
    if not isinstance(answer, Mapping):
        raise ProviderBoundaryError(f"the {RERANKER}'s answer is no mapping of node ids to scores")


def copies(handles: Sequence[wire.Handle]) -> list[wire.Handle]:
    """Return copies: a reranker that edits what it was given changes nothing here."""
    return [handle.copy() for handle in handles]


def reranker_scores(
    reranker: Reranker, query: str, handles: Sequence[wire.Handle]
) -> tuple[RerankerBinding, dict[str, float]]:
    """Ask a reranker; return its binding and one finite score for each handle.

    Raises ProviderUnavailable as the reranker does, ProviderBoundaryError for all else.
    """
    binding = check_reranker_binding(reranker)
    answer = asked(RERANKER, lambda: reranker.score(query, copies(handles)))
    with provider_faults(RERANKER):
        is_a_mapping(answer)
        pairs = islice(answer.items(), len(handles) + 1)  # a mapping may have no end
        scores = {plain(node_id): plain(score) for node_id, score in pairs}
        for check in SCORE_CHECKS:
            check(scores, handles)
        kept_its_binding(RERANKER, binding, check_reranker_binding(reranker))
    return binding, scores


def asked(who: str, question: Callable[[], T]) -> T:
    """Return a provider's answer; its own words never leave, they may hold the query.

    Raises ProviderUnavailable as the provider does, ProviderBoundaryError for all else that it raises.
    """
    failure: Exception
    try:
        return question()
    except ProviderUnavailable:
        failure = ProviderUnavailable(f"the {who} is unavailable")
    except Exception as error:
        failure = ProviderBoundaryError(f"the {who} failed: {type(error).__name__}")
    raise failure  # outside the handler: nothing of what the provider raised hangs on it


def plain(value: Any) -> Any:
    """Return a text or number of a subclass as what it is; anything else as it is.

    A subclass may say one thing to a check and another to whoever uses it.
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__int__(value)
    return value


def plain_hit(hit: object) -> Any:
    """Return a row of a dense answer as a plain DenseHit; what is none, as it is."""
    if not isinstance(hit, DenseHit):
        return hit
    return DenseHit(*(plain(tuple.__getitem__(hit, at)) for at in range(3)))


@contextmanager
def provider_faults(who: str) -> Iterator[None]:
    """Let outages and broken rules through; turn all else that a provider raises into a broken rule."""
    try:
        yield
    except (ProviderUnavailable, ProviderBoundaryError):
        raise
    except Exception as error:
        raise ProviderBoundaryError(f"the {who} failed: {type(error).__name__}") from None


def finite(value: object) -> bool:
    """Say whether a value is a finite number that a float can hold."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond the largest float
        return False
