"""Providers for tests: real objects behind the two protocols, each of which can be told to misbehave.

``FixedDense`` answers with rows that a test states, ``FixedReranker`` with scores that a test states.
``before`` is called with what a provider was given, before it answers: it may raise, or edit it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from secondbrain import DenseBinding, DenseHit, RerankerBinding, Store

PINNED = "a" * 40


def dense_binding(store: Store, **changed: Any) -> DenseBinding:
    """Return a binding that holds for a store's generation, with some fields changed."""
    fields = {
        "model": "test-embedding",
        "revision": PINNED,
        "dimensions": 3,
        "generation_sha256": store.snapshot().generation_sha256,
        **changed,
    }
    return DenseBinding(**fields)


def digests(store: Store) -> dict[str, str]:
    """Return node id → digest of every chunk of a store, in the order of ids."""
    ids = '["' + '","'.join(f"{row}" for row in _node_ids(store)) + '"]'
    return {node_id: sha256 for node_id, _, _, sha256 in store.reader().rows("read/nodes", (ids,))}


def _node_ids(store: Store) -> list[str]:
    return [
        store.reader().rows("read/handle", (at,))[0][0] for at in range(1, store.snapshot().chunk_count + 1)
    ]


def hit(store: Store, node_id: str, score: Any = 0.5) -> DenseHit:
    """Return an honest row of a dense answer."""
    return DenseHit(node_id, digests(store)[node_id], score)


class FixedDense:
    """A dense provider that answers with the rows it was made with."""

    def __init__(
        self,
        store: Store,
        hits: Any = (),
        *,
        binding: Any = None,
        before: Callable[["FixedDense"], None] = lambda provider: None,
    ) -> None:
        self.binding = binding if binding is not None else dense_binding(store)
        self.hits = hits
        self.before = before
        self.asked: list[tuple[str, int]] = []

    def search(self, query: str, limit: int) -> Sequence[DenseHit]:
        self.asked.append((query, limit))
        self.before(self)
        return self.hits


class FixedReranker:
    """A reranker that answers with the scores it was made with, 0 for handles that it was told nothing of."""

    def __init__(
        self,
        scores: Any = None,
        *,
        whole_answer: Any = None,
        binding: Any = None,
        before: Callable[["FixedReranker", Sequence[Any]], None] = lambda provider, handles: None,
    ) -> None:
        self.binding = binding if binding is not None else RerankerBinding("test-cross-encoder", PINNED)
        self.scores = scores or {}
        self.whole_answer = whole_answer
        self.before = before
        self.given: list[list[str]] = []

    def score(self, query: str, handles: Sequence[Any]) -> Mapping[str, float]:
        self.given.append([handle["nodeId"] for handle in handles])
        answer = {handle["nodeId"]: self.scores.get(handle["nodeId"], 0.0) for handle in handles}
        self.before(self, handles)
        return answer if self.whole_answer is None else self.whole_answer
