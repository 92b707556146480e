"""Every route answers with the library's own payload, byte for byte in canonical form."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from space_service import Service, build_store, problem_of, serving

import secondbrain
from secondbrain import HybridSecondBrain
from secondbrain.digests import canonical_json
from secondbrain.retrieval.receipt import context_sha256
from secondbrain.retrieval.verification import verify_receipt
from secondbrain.space.operations import OPERATIONS
from secondbrain.store.opened import Store


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(build_store(tmp_path_factory.mktemp("store"))) as running:
        yield running


SAME: list[tuple[str, Callable[[Store], Any]]] = [
    ("/api/v1/index", lambda store: secondbrain.index(store=store)),
    ("/api/v1/status", lambda store: secondbrain.status(store=store)),
    (
        "/api/v1/retrieval-capabilities",
        lambda store: secondbrain.retrieval_capabilities(HybridSecondBrain(store)),
    ),
    ("/api/v1/retrieve?query=receipts&k=2", lambda store: secondbrain.retrieve("receipts", 2, store=store)),
    ("/retrieve?q=receipts", lambda store: secondbrain.retrieve("receipts", store=store)),
    (
        "/api/v1/retrieve?query=receipts&sources=note",
        lambda store: secondbrain.retrieve("receipts", sources=["note"], store=store),
    ),
    ("/api/v1/hybrid?query=receipts", lambda store: HybridSecondBrain(store).context("receipts")),
    (
        "/api/v1/hybrid?q=%CE%9B+uniqueness&k=12&sources=doc&sources=note",
        lambda store: HybridSecondBrain(store).context("Λ uniqueness", 12, ["doc", "note"]),
    ),
    ("/api/v1/hybrid?query=", lambda store: HybridSecondBrain(store).context("")),
    ("/api/v1/hybrid?query=zebra", lambda store: HybridSecondBrain(store).context("zebra")),
    (
        "/api/v1/navigator?query=ledger&k=1",
        lambda store: secondbrain.navigator_context("ledger", 1, store=store),
    ),
    ("/api/v1/frontier", lambda store: secondbrain.frontier_status(store=store)),
    (
        "/api/v1/frontier/search?query=formula&k=24",
        lambda store: secondbrain.frontier_search("formula", 24, store=store),
    ),
    (
        "/api/v1/frontier/search?query=formula&kind=quant-domain",
        lambda store: secondbrain.frontier_search("formula", kind="quant-domain", store=store),
    ),
    ("/api/v1/anatomy", lambda store: secondbrain.anatomy_feed(store=store)),
    ("/api/v1/anatomy?k=3", lambda store: secondbrain.anatomy_feed(3, store=store)),
]


@pytest.mark.parametrize(("path", "call"), SAME, ids=[path for path, _ in SAME])
def test_a_get_answers_with_the_librarys_payload(
    service: Service, path: str, call: Callable[[Store], Any]
) -> None:
    answer = service.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.content == canonical_json(call(service.store)).encode("utf-8")


@pytest.mark.parametrize("path", ["/api/v1/retrieve", "/api/v1/hybrid"])
def test_a_post_answers_as_the_get_does(service: Service, path: str) -> None:
    posted = service.post(path, {"query": "Λ receipts", "k": 3, "sources": ["doc"]})
    got = service.get(path, params={"query": "Λ receipts", "k": 3, "sources": "doc"})
    assert posted.status_code == got.status_code == 200
    assert posted.content == got.content
    assert service.post(path, {"q": "receipts"}).content == service.get(f"{path}?q=receipts").content


@pytest.mark.parametrize(("old", "new"), [("/health", "/healthz"), ("/retrieve?q=a", "/api/v1/retrieve?q=a")])
def test_the_old_names_answer_as_the_new_ones(service: Service, old: str, new: str) -> None:
    assert service.get(old).content == service.get(new).content


def test_one_candidate_is_answered_by_its_id(service: Service) -> None:
    handle = secondbrain.anatomy_feed(1, store=service.store)["handles"][0]
    answer = service.get(f"/api/v1/frontier/candidates/{handle['nodeId']}")
    assert answer.content == canonical_json(handle).encode("utf-8")


def test_an_unknown_candidate_is_a_404(service: Service) -> None:
    answer = service.get("/api/v1/frontier/candidates/frontier:none")
    assert problem_of(answer)["detail"] == "the frontier set has no candidate of this id"
    assert answer.status_code == 404


def test_the_sources_of_the_frontier_are_those_of_its_state(service: Service) -> None:
    state = secondbrain.frontier_status(store=service.store)
    sources = service.get("/api/v1/frontier/sources").json()
    assert sources["sources"] == state["sources"]
    assert sources["candidate_set_sha256"] == state["candidate_set_sha256"]
    assert sources["merge_authority"] == "NONE"


def test_life_readiness_and_version(service: Service) -> None:
    snapshot = service.store.snapshot()
    assert service.get("/healthz").json() == {"state": "ALIVE"}
    assert service.get("/readyz").json() == {
        "state": "READY",
        "ready": True,
        "generation_sha256": snapshot.generation_sha256,
        "integrity": "FILE_DIGEST_MATCHED",
    }
    version = service.get("/version").json()
    assert version["version"] == secondbrain.__version__
    assert version["doctrine"] == "v11"
    assert version["source_revision"] == "UNKNOWN"
    assert version["candidate_set_sha256"] == snapshot.frontier_sha256


def test_the_manifest_lists_every_route(service: Service) -> None:
    manifest = service.get("/api/v1/manifest").json()
    assert [one["path"] for one in manifest["routes"]] == [one.path for one in OPERATIONS]
    assert manifest["training_authority"] == "NONE"
    assert manifest["generation_sha256"] == service.store.snapshot().generation_sha256


def test_a_head_has_the_headers_of_the_get_and_no_body(service: Service) -> None:
    head, got = service.client.head("/api/v1/index"), service.get("/api/v1/index")
    assert head.content == b""
    assert head.headers["content-length"] == got.headers["content-length"]


def test_the_feed_is_not_sent_again_where_it_is_known(service: Service) -> None:
    first = service.get("/api/v1/anatomy")
    tag = first.headers["etag"]
    for known in (tag, f'W/{tag}, "other"', "*"):
        again = service.get("/api/v1/anatomy", headers={"if-none-match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert service.get("/api/v1/anatomy", headers={"if-none-match": '"other"'}).content == first.content
    assert service.get("/api/v1/anatomy?k=1").headers["etag"] != tag


def test_a_context_is_verified_stale_or_tampered(service: Service) -> None:
    context = json.loads(service.get("/api/v1/hybrid?query=receipts").content)
    answer = service.post("/api/v1/receipts/verify", context)
    assert answer.content == canonical_json(verify_receipt(context, store=service.store)).encode("utf-8")
    assert answer.json()["state"] == "VERIFIED"
    assert answer.json()["not_proven"]
    assert (
        service.post("/api/v1/receipts/verify", context | {"handles_sha256": "0" * 64}).json()["state"]
        == "TAMPERED"
    )
    context["generation_sha256"] = context["ranking_receipt"]["generation_sha256"] = "0" * 64
    context["context_sha256"] = context_sha256(context)
    assert service.post("/api/v1/receipts/verify", context).json()["state"] == "STALE"


@pytest.mark.parametrize(
    "change", [{"handles": "none"}, {"more": 1}, {"ready": "yes"}, {"honesty": "\ud800"}]
)
def test_what_is_no_context_is_not_verified(service: Service, change: dict[str, Any]) -> None:
    context = json.loads(service.get("/api/v1/hybrid?query=receipts").content)
    answer = service.post("/api/v1/receipts/verify", json.dumps(context | change).encode("ascii"))
    assert answer.status_code == 422
    assert problem_of(answer)["field"] in {*change, "context", "body"}


def test_an_address_that_is_no_route_is_a_404(service: Service) -> None:
    for path in ("/nothing", "/healthz/", "/api/v1/hybrid/more", "/"):
        answer = service.get(path)
        assert answer.status_code == 404
        assert problem_of(answer)["title"] == "There is nothing here"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "POST"])
def test_a_method_that_a_route_lacks_is_a_405(service: Service, method: str) -> None:
    answer = service.client.request(method, "/api/v1/navigator")
    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]
    problem_of(answer)
