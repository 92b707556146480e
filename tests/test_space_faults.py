"""Who is at fault is told by the status; of a provider's or the store's fault, its type alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from conftest import row
from space_service import build_store, problem_of, serving
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from secondbrain import (
    DenseBinding,
    DenseHit,
    HybridSecondBrain,
    ProviderUnavailable,
    RerankerBinding,
)
from secondbrain.settings import Settings
from secondbrain.store import connect
from secondbrain.store.opened import Store

SECRET = "what the provider says of itself"


class Dense:
    """A dense provider that answers as it is told."""

    def __init__(self, store: Store, search: Callable[[str, int], Sequence[DenseHit]]) -> None:
        self.binding = DenseBinding("test", "a" * 40, 2, store.snapshot().generation_sha256)
        self.search = search


class Scorer:
    """A reranker that answers as it is told."""

    binding = RerankerBinding("test", "b" * 40)

    def __init__(self, score: Callable[[str, Sequence[Any]], Mapping[str, float]]) -> None:
        self.score = score


def out(*_: object) -> Any:
    raise ProviderUnavailable(SECRET)


def broken(*_: object) -> Any:
    raise RuntimeError(SECRET)


def test_a_dense_provider_that_misbehaves_is_a_502(store: Store) -> None:
    for answer in (broken, lambda *_: [DenseHit("unknown", "0" * 64, 1.0)], lambda *_: SECRET):
        brain = HybridSecondBrain(store, dense_provider=Dense(store, answer))
        with serving(store, brain=brain) as service:
            blocked = service.get("/api/v1/hybrid?query=receipts")
        assert blocked.status_code == 502
        problem = problem_of(blocked)
        assert (problem["state"], problem["error_type"]) == ("BLOCKED", "ProviderBoundaryError")
        assert SECRET not in blocked.text
        assert SECRET not in "".join(service.log)


def test_a_reranker_that_misbehaves_is_a_502(store: Store) -> None:
    brain = HybridSecondBrain(store, reranker=Scorer(lambda *_: {"unknown": 1.0}))
    with serving(store, brain=brain) as service:
        answer = service.get("/api/v1/hybrid?query=receipts")
    assert answer.status_code == 502
    assert problem_of(answer)["state"] == "BLOCKED"


def test_a_provider_that_is_out_is_a_503_where_nothing_may_fall_back(store: Store) -> None:
    brain = HybridSecondBrain(store, dense_provider=Dense(store, out), allow_sparse_fallback=False)
    with serving(store, brain=brain) as service:
        answer = service.post("/api/v1/hybrid", {"query": "receipts"})
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    problem = problem_of(answer)
    assert (problem["state"], problem["error_type"]) == ("BLOCKED", "ProviderUnavailable")
    assert SECRET not in answer.text


def test_a_provider_that_is_out_is_named_by_the_mode_where_it_may(store: Store) -> None:
    brain = HybridSecondBrain(store, dense_provider=Dense(store, out))
    with serving(store, brain=brain) as service:
        answer = service.get("/api/v1/hybrid?query=receipts")
        modes = service.get("/api/v1/retrieval-capabilities").json()["modes"]
    assert answer.status_code == 200
    assert answer.json()["ranking_receipt"]["mode"] == "BM25_FALLBACK_DENSE_UNAVAILABLE"
    assert "BM25_FALLBACK_DENSE_UNAVAILABLE" in modes


def test_a_provider_never_hears_of_a_request_that_is_refused(store: Store) -> None:
    asked: list[str] = []
    brain = HybridSecondBrain(store, dense_provider=Dense(store, lambda query, _: asked.append(query) or []))
    with serving(store, brain=brain) as service:
        assert service.get("/api/v1/hybrid?query=receipts&k=13").status_code == 422
        assert service.get("/api/v1/hybrid?query=receipts").status_code == 200
    assert asked == ["receipts"]


def test_a_search_that_takes_too_long_is_a_503(
    make_store: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "_STEPS_BETWEEN_CHECKS", 10)  # so that a small corpus is looked at in time
    store = Store(make_store([row(f"doc:{n}", f"word{n % 7}") for n in range(50)]).path, deadline=-1.0)
    with serving(store) as service:
        answer = service.get("/api/v1/hybrid", params={"query": "word1 word2 word3 word4 word5"})
    assert answer.status_code == 503
    assert problem_of(answer)["error_type"] == "DeadlineExceeded"


STORE_PATHS = [
    "/api/v1/index",
    "/api/v1/status",
    "/api/v1/retrieve?query=receipts",
    "/api/v1/hybrid?query=receipts",
    "/api/v1/navigator?query=receipts",
    "/api/v1/frontier",
    "/api/v1/frontier/search?query=receipts",
    "/api/v1/frontier/sources",
    "/api/v1/anatomy",
    "/version",
]


@pytest.mark.parametrize("when", ["before it is opened", "while it is served"])
def test_a_store_that_fails_its_check_is_a_503_everywhere(tmp_path: Any, when: str) -> None:
    store = build_store(tmp_path)
    data = bytearray(store.path.read_bytes())
    data[len(data) // 2] ^= 1

    def damage() -> None:
        store.path.write_bytes(data)

    if when == "before it is opened":
        damage()
    with serving(store) as service:
        if when == "while it is served":
            assert service.get("/readyz").status_code == 200
            damage()
        for path in STORE_PATHS:
            answer = service.get(path)
            assert answer.status_code == 503, path
            assert answer.headers["content-type"] == "application/json"
            assert answer.json()["error_type"] == "StoreIntegrityError"
        for path in ("/readyz", "/api/v1/frontier/candidates/frontier:1"):
            assert problem_of(service.get(path))["error_type"] == "StoreIntegrityError"
        assert service.get("/healthz").status_code == 200
        assert service.get("/api/v1/manifest").json()["generation_sha256"] is None
        assert str(store.path) not in service.get("/readyz").text


def test_a_store_that_is_mended_is_served_again(tmp_path: Any) -> None:
    store = build_store(tmp_path)
    whole = store.path.read_bytes()
    with serving(store) as service:
        store.path.write_bytes(whole[:-1])
        assert service.get("/readyz").status_code == 503
        store.path.write_bytes(whole)
        assert service.get("/readyz").status_code == 200


def test_a_database_without_a_frontier_says_so(store: Store) -> None:
    with serving(store) as service:
        for path in ("/api/v1/frontier", "/api/v1/frontier/search?query=a", "/api/v1/anatomy"):
            answer = service.get(path)
            assert answer.status_code == 503
            assert answer.json()["state"] == "UNAVAILABLE"
            assert answer.json()["error_type"] == "FrontierIntegrityError"
        assert (
            problem_of(service.get("/api/v1/frontier/candidates/a"))["error_type"] == "FrontierIntegrityError"
        )
        assert service.get("/api/v1/hybrid?query=receipts").status_code == 200


async def _fails(request: Request) -> Response:
    raise RuntimeError(request.query_params["q"])


async def _fails_late(request: Request) -> Response:
    class Half(Response):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
            raise RuntimeError("late")

    return Half()


def test_whatever_else_fails_is_a_500_without_a_word(store: Store) -> None:
    pages = [Route("/fails", _fails), Route("/late", _fails_late)]
    with serving(store, pages=pages) as service:
        answer = service.get("/fails?q=secret+words")
        service.raw(b"GET /late HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
    assert answer.status_code == 500
    assert problem_of(answer)["title"] == "The request failed here"
    assert "secret" not in answer.text + "".join(service.log)
    assert "content-security-policy" in answer.headers
    [line] = [line for line in service.log if '"/fails"' in line]
    assert '"error_type": "RuntimeError"' in line
    assert "test_space_faults.py" in line


def test_a_status_that_the_router_raises_is_a_problem_too(store: Store) -> None:
    from starlette.exceptions import HTTPException

    async def teapot(_: Request) -> Response:
        raise HTTPException(418)

    with serving(store, pages=[Route("/teapot", teapot)]) as service:
        assert problem_of(service.get("/teapot"))["type"] == "/docs#i'm-a-teapot"


def test_a_corpus_that_cannot_be_followed_stops_the_service() -> None:
    from secondbrain import ConfigurationError
    from secondbrain.space.app import create_app

    with pytest.raises(ConfigurationError, match="SECOND_BRAIN_CORPUS=/nowhere"):
        create_app(Settings(corpus="/nowhere"))
