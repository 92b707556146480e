"""Providers: what an operator may add to the sparse leg, and what is believed of them.

The rules, each enforced on every request:

 1. A provider states a binding: its model, a pinned revision (40 hexadecimal digits, or ``sha256:`` and
    64), for a dense one also its dimensions and the generation that it indexed.
 2. A dense provider that indexed another generation is not asked.
 3. It answers with at most as many rows as asked for; a node stands once; every node is one of this
    generation, with its digest; every score is a finite number.
 4. A reranker scores each candidate that it was given, once, and no other; every score is finite.
 5. Whatever else it does, raising included, blocks the request. Only ProviderUnavailable, an outage
    that the adapter itself recognised, may fall back, and the mode says so.

Providers get the query and handles, never a text: a reranker that reads texts hydrates them itself, as
the controller that it is part of.

A provider may be called from several threads at once; it must be safe for that, or be given to one
HybridSecondBrain a thread.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from secondbrain import wire
from secondbrain.digests import is_pinned_revision, is_sha256
from secondbrain.errors import ProviderBoundaryError, ProviderUnavailable


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


def check_dense_binding(binding: object) -> DenseBinding:
    """Return a dense binding that keeps rule 1; ProviderBoundaryError otherwise."""
    if not isinstance(binding, DenseBinding):
        raise ProviderBoundaryError("the dense provider states no DenseBinding")
    _check_identity("dense provider", binding.model, binding.revision)
    if not isinstance(binding.dimensions, int) or isinstance(binding.dimensions, bool) or binding.dimensions < 1:
        raise ProviderBoundaryError("the dense provider's dimensions are no whole number above zero")
    if not is_sha256(binding.generation_sha256):
        raise ProviderBoundaryError("the dense provider's generation is no SHA-256")
    if binding.grounding_floor is not None and not _finite(binding.grounding_floor):
        raise ProviderBoundaryError("the dense provider's grounding floor is no finite number")
    return binding


def check_reranker_binding(binding: object) -> RerankerBinding:
    """Return a reranker's binding that keeps rule 1; ProviderBoundaryError otherwise."""
    if not isinstance(binding, RerankerBinding):
        raise ProviderBoundaryError("the reranker states no RerankerBinding")
    _check_identity("reranker", binding.model, binding.revision)
    return binding


def dense_hits(
    provider: DenseProvider, query: str, limit: int, generation_sha256: str
) -> tuple[DenseBinding, list[DenseHit]]:
    """Ask a dense provider; return its binding and its rows, each in form and standing once.

    That the nodes and digests are those of the generation is :func:`check_nodes`'s part. Raises
    ProviderUnavailable as the provider does, ProviderBoundaryError for all else.
    """
    try:
        binding = check_dense_binding(provider.binding)
        if binding.generation_sha256 != generation_sha256:
            raise ProviderBoundaryError("the dense provider indexed another generation")
        answer = provider.search(query, limit)
        if not isinstance(answer, Sequence) or isinstance(answer, str):
            raise ProviderBoundaryError("the dense provider's answer is no sequence of hits")
        if len(answer) > limit:
            raise ProviderBoundaryError(f"the dense provider answered with more than {limit} rows")
        hits = list(answer)
    except (ProviderUnavailable, ProviderBoundaryError):
        raise
    except Exception as error:
        raise ProviderBoundaryError(f"the dense provider failed: {type(error).__name__}") from None
    seen: set[str] = set()
    for hit in hits:
        if not isinstance(hit, DenseHit) or not isinstance(hit.node_id, str) or not isinstance(hit.sha256, str):
            raise ProviderBoundaryError("a row of the dense provider is no DenseHit")
        if not _finite(hit.score):
            raise ProviderBoundaryError("a score of the dense provider is no finite number")
        if hit.node_id in seen:
            raise ProviderBoundaryError("a node stands twice in the dense provider's answer")
        seen.add(hit.node_id)
    return binding, hits


def check_nodes(hits: Sequence[DenseHit], nodes: Mapping[str, Node]) -> None:
    """Hold the nodes and digests of a dense answer against the generation; ProviderBoundaryError."""
    for hit in hits:
        if hit.node_id not in nodes:
            raise ProviderBoundaryError("the dense provider answered with an unknown node")
        if nodes[hit.node_id].sha256 != hit.sha256:
            raise ProviderBoundaryError("the dense provider answered with a wrong digest")


def reranker_scores(
    reranker: Reranker, query: str, handles: Sequence[wire.Handle]
) -> tuple[RerankerBinding, dict[str, float]]:
    """Ask a reranker; return its binding and one finite score for each handle.

    Raises ProviderUnavailable as the reranker does, ProviderBoundaryError for all else.
    """
    try:
        binding = check_reranker_binding(reranker.binding)
        # Copies: a reranker that edits what it was given changes nothing here.
        answer = reranker.score(query, [handle.copy() for handle in handles])
        if not isinstance(answer, Mapping):
            raise ProviderBoundaryError("the reranker's answer is no mapping of node ids to scores")
        scores = dict(answer)
    except (ProviderUnavailable, ProviderBoundaryError):
        raise
    except Exception as error:
        raise ProviderBoundaryError(f"the reranker failed: {type(error).__name__}") from None
    if set(scores) != {handle["nodeId"] for handle in handles}:
        raise ProviderBoundaryError("the reranker did not score exactly the candidates that it was given")
    if not all(map(_finite, scores.values())):
        raise ProviderBoundaryError("a score of the reranker is no finite number")
    return binding, scores


def _check_identity(who: str, model: object, revision: object) -> None:
    if not isinstance(model, str) or not model.strip():
        raise ProviderBoundaryError(f"the {who} names no model")
    if not is_pinned_revision(revision):
        raise ProviderBoundaryError(f"the {who}'s revision is not pinned: 40 hexadecimal digits, or sha256: and 64")


def _finite(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
