"""A small corpus is searched in the event loop, any other on a bounded pool."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROWS, row, write_projection
from space_service import QUIET, serving

from secondbrain import DenseBinding, HybridSecondBrain
from secondbrain.space import work
from secondbrain.space.app import create_app
from secondbrain.space.work import Work
from secondbrain.store.build import build
from secondbrain.store.opened import Store


def where(working: Work, times: int = 3) -> list[bool]:
    """Return for calls in a row whether each ran in the event loop's own thread."""

    async def asked() -> list[bool]:
        own = threading.get_ident()
        return [await working.run(threading.get_ident) == own for _ in range(times)]

    return asyncio.run(asked())


def test_a_small_corpus_is_opened_on_the_pool_and_searched_in_the_loop(store: Store) -> None:
    assert where(Work(HybridSecondBrain(store))) == [False, True, True]


def test_a_large_corpus_is_searched_on_the_pool(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "INLINE_CHUNKS", len(ROWS) - 1)
    assert where(Work(HybridSecondBrain(store))) == [False, False, False]


def test_a_provider_is_asked_on_the_pool(store: Store) -> None:
    class Dense:
        binding = DenseBinding("test", "a" * 40, 2, store.snapshot().generation_sha256)

        def search(self, query: str, limit: int) -> list[object]:
            return []

    assert where(Work(HybridSecondBrain(store, dense_provider=Dense()))) == [False, False, False]  # type: ignore[arg-type]


def test_a_new_file_is_opened_on_the_pool(store: Store, tmp_path: Path) -> None:
    working = Work(HybridSecondBrain(store))
    assert where(working, 2) == [False, True]
    build(write_projection(tmp_path / "new.jsonl", [row("new:1", "Another text.")]), store.path)
    assert where(working, 2) == [False, True]
    store.path.unlink()
    assert where(working, 2) == [False, False]


def test_a_failing_call_fails_where_it_was_asked(store: Store) -> None:
    def fails() -> None:
        raise LookupError

    for _ in range(2):
        with pytest.raises(LookupError):
            asyncio.run(Work(HybridSecondBrain(store)).run(fails))


def test_a_new_generation_is_served_whole_while_requests_come(store: Store, tmp_path: Path) -> None:
    projections = [
        write_projection(tmp_path / f"{n}.jsonl", [row(f"gen{n}:1", "The receipts.")]) for n in range(2)
    ]
    with serving(store) as service:
        for turn in range(6):
            built = build(projections[turn % 2], store.path)
            for _ in range(3):
                context = service.get("/api/v1/hybrid?query=receipts").json()
                assert context["generation_sha256"] == built.generation_sha256
                assert [one["nodeId"] for one in context["handles"]] == [f"gen{turn % 2}:1"]


def test_the_pool_is_bounded_when_the_application_starts(make_store: Callable[..., Store]) -> None:
    from anyio import to_thread

    async def bounded() -> float:
        app = create_app(QUIET, brain=HybridSecondBrain(make_store()), pages=())
        async with app.router.lifespan_context(app):
            return to_thread.current_default_thread_limiter().total_tokens

    assert asyncio.run(bounded()) == QUIET.threads
