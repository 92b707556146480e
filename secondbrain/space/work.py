"""Where a search runs: in the event loop, or on a bounded pool of threads.

The rules:

 1. A corpus of up to INLINE_CHUNKS chunks without providers is searched in the event loop. A search
    takes less than a millisecond there; with 575 chunks on one core the loop answered 1,750 contexts a
    second, threads 1,470.
 2. A larger corpus, or one with a provider, is searched on the pool: SQLite lets go of the interpreter
    while it works, and a provider may wait.
 3. A file that is new is first opened on the pool, whatever its size: opening checks it.
 4. The pool is Starlette's own, bounded when the application starts, and so are the connections: each
    thread keeps one.
"""

from collections.abc import Callable
from typing import TypeVar

from anyio import to_thread

from secondbrain.errors import StoreIntegrityError
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.store.opened import Identity, identity_of

T = TypeVar("T")

INLINE_CHUNKS = 2_000
"""Largest corpus that is searched in the event loop."""


class Work:
    """Runs calls of the library."""

    def __init__(self, brain: HybridSecondBrain) -> None:
        self._store = brain.store
        self._waits = brain.plan.dense_provider is not None or brain.plan.reranker is not None
        self._small: Identity | None = None

    async def run(self, call: Callable[[], T]) -> T:
        """Run a call by the rules above; whatever it raises is raised here."""
        if self._is_small():
            return call()
        return await to_thread.run_sync(self._then_measure, call)

    def _is_small(self) -> bool:
        """Say whether the file is one that was opened before and found small."""
        return self._small is not None and self._small == self._file()

    def _then_measure(self, call: Callable[[], T]) -> T:
        try:
            return call()
        finally:
            self._measure()

    def _measure(self) -> None:
        if self._waits:
            return
        file = self._file()
        try:
            small = self._store.snapshot().chunk_count <= INLINE_CHUNKS
        except StoreIntegrityError:
            small = False
        # Looked at again: a file that was replaced in between is measured with the next call.
        self._small = file if small and file == self._file() else None

    def _file(self) -> Identity | None:
        try:
            return identity_of(self._store.path)
        except StoreIntegrityError:
            return None
