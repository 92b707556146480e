"""What browsers are told: headers on every answer, allowed hosts, CORS only where it was switched on."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from space_service import QUIET, Service, problem_of, serving

from secondbrain.store.opened import Store

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


@pytest.fixture
def service(store: Store) -> Iterator[Service]:
    with serving(store) as running:
        yield running


def test_every_answer_has_the_headers(service: Service) -> None:
    answers = [
        service.get("/healthz"),
        service.get("/docs"),
        service.get("/nothing"),
        service.get("/api/v1/hybrid"),
        service.post("/api/v1/hybrid", b" " * 70_000),
    ]
    assert [one.status_code for one in answers] == [200, 200, 404, 422, 413]
    for answer in answers:
        headers = answer.headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert "server" not in headers
        assert "set-cookie" not in headers
        assert "access-control-allow-origin" not in headers


def test_an_answer_about_a_query_is_not_stored(service: Service) -> None:
    assert service.get("/api/v1/hybrid?query=a").headers["cache-control"] == "no-store"


def test_the_origins_that_may_show_the_page_can_be_named(store: Store) -> None:
    settings = replace(QUIET, frame_ancestors="https://huggingface.co, 'self'")
    with serving(store, settings) as service:
        headers = service.get("/docs").headers
    assert headers["content-security-policy"].endswith("frame-ancestors https://huggingface.co 'self'")
    assert "x-frame-options" not in headers


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("brain.example.org", 200),
        ("Brain.Example.org:7860", 200),
        ("a.hf.space", 200),
        ("[::1]:7860", 200),
        ("hf.space", 421),
        ("evil-hf.space", 421),
        ("brain.example.org.evil.example", 421),
        ("127.0.0.1", 421),
        ("", 421),
    ],
)
def test_a_host_that_is_not_allowed_is_a_421(store: Store, host: str, status: int) -> None:
    with serving(store, replace(QUIET, allowed_hosts="brain.example.org, *.hf.space, [::1]")) as service:
        answer = service.get("/api/v1/index", headers={"host": host})
        assert answer.status_code == status
        if status == 421:
            assert problem_of(answer)["type"] == "/docs#wrong-host"
        assert service.get("/healthz", headers={"host": host}).status_code == 200


def test_two_hosts_are_no_host(store: Store) -> None:
    with serving(store, replace(QUIET, allowed_hosts="a")) as service:
        answer = service.raw(b"GET /docs HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 421 ")


def test_cors_is_for_named_origins_only(store: Store) -> None:
    asks = {"origin": "https://a.example", "access-control-request-method": "POST"}
    with serving(store, replace(QUIET, cors_origins="https://a.example")) as service:
        allowed = service.get("/api/v1/index", headers={"origin": "https://a.example"})
        other = service.get("/api/v1/index", headers={"origin": "https://b.example"})
        before = service.client.options("/api/v1/hybrid", headers=asks)
    assert allowed.headers["access-control-allow-origin"] == "https://a.example"
    assert "access-control-allow-credentials" not in allowed.headers
    assert "access-control-allow-origin" not in other.headers
    assert before.status_code == 200
    assert "POST" in before.headers["access-control-allow-methods"]
