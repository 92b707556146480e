"""What is not exactly as declared is refused, and the refusal names the field and repeats no value."""

import json
import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from space_service import Service, build_store, problem_of, serving

from secondbrain.space import requests
from secondbrain.space.requests import MAX_BODY_BYTES


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(build_store(tmp_path_factory.mktemp("store"))) as running:
        yield running


LONG = "a" * 2001
HALF = (
    b"POST /api/v1/hybrid HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"
)
"""A request whose body has begun."""

QUERY_STRINGS = [
    ("/api/v1/hybrid", "", "query"),
    ("/api/v1/hybrid", "k=3", "query"),
    ("/api/v1/hybrid", f"query={LONG}", "query"),
    ("/api/v1/hybrid", "query=a&query=b", "query"),
    ("/api/v1/hybrid", "query=a&q=b", "query"),
    ("/api/v1/hybrid", "q=a&q=a", "query"),
    ("/api/v1/hybrid", "query=a&k=0", "k"),
    ("/api/v1/hybrid", "query=a&k=13", "k"),
    ("/api/v1/hybrid", "query=a&k=-1", "k"),
    ("/api/v1/hybrid", "query=a&k=06", "k"),
    ("/api/v1/hybrid", "query=a&k=6.0", "k"),
    ("/api/v1/hybrid", "query=a&k=%D9%A6", "k"),
    ("/api/v1/hybrid", "query=a&k=", "k"),
    ("/api/v1/hybrid", "query=a&k=99999999999999999999", "k"),
    ("/api/v1/hybrid", "query=a&k=1&k=1", "k"),
    ("/api/v1/hybrid", "query=a&limit=3", "limit"),
    ("/api/v1/hybrid", "query=a&K=3", "K"),
    ("/api/v1/hybrid", "query=a&%3Cb%3E=3", "a parameter"),
    ("/api/v1/hybrid", "query=a&sources=nowhere", "sources"),
    ("/api/v1/hybrid", "query=a&sources=doc&sources=doc", "sources"),
    ("/api/v1/hybrid", "query=a&sources=" + "b" * 201, "sources"),
    ("/api/v1/hybrid", "query=a&" + "&".join(f"sources={n}" for n in range(33)), "sources"),
    ("/api/v1/hybrid", "query=%ff", "query string"),
    ("/api/v1/hybrid", "query=%ED%A0%80", "query string"),
    ("/api/v1/hybrid", "query=%zz", "query string"),
    ("/api/v1/hybrid", "query=50%", "query string"),
    ("/api/v1/hybrid", "query", "query string"),
    ("/api/v1/hybrid", "query=a&&k=3", "query string"),
    ("/api/v1/hybrid", "&".join(f"a{n}=1" for n in range(65)), "query string"),
    ("/api/v1/retrieve", "query=a&k=13", "k"),
    ("/retrieve", "query=a&k=13", "k"),
    ("/api/v1/navigator", "query=a&k=13", "k"),
    ("/api/v1/navigator", "query=a&sources=doc", "sources"),
    ("/api/v1/frontier/search", "query=a&k=25", "k"),
    ("/api/v1/frontier/search", "query=a&kind=nothing", "kind"),
    ("/api/v1/frontier/search", "query=a&source_id=nothing", "source_id"),
    ("/api/v1/frontier/search", "query=a&quant_domain=nothing", "quant_domain"),
    ("/api/v1/frontier/search", "query=a&kind=quant-domain&kind=quant-domain", "kind"),
    ("/api/v1/anatomy", "k=25", "k"),
    ("/api/v1/status", "full=1", "full"),
    ("/healthz", "full=1", "full"),
    ("/readyz", "full=1", "full"),
    ("/version", "q=1", "q"),
]


@pytest.mark.parametrize(("path", "query", "field"), QUERY_STRINGS)
def test_a_query_string_outside_its_rules_is_refused(
    service: Service, path: str, query: str, field: str
) -> None:
    # By hand: a client library mends what is broken.
    request = f"GET {path}?{query} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
    head, _, body = service.raw(request.encode("ascii")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 422 ")
    problem = json.loads(body)
    assert problem["field"] == field
    assert problem["in"] == "query"
    assert LONG not in problem["detail"]


def test_the_longest_query_of_the_widest_characters_is_answered(service: Service) -> None:
    widest = "\U0001f9e0" * 2000
    assert service.get("/api/v1/hybrid", params={"query": widest}).status_code == 200
    assert service.get("/api/v1/hybrid", params={"query": widest + "a"}).status_code == 422
    assert service.post("/api/v1/hybrid", {"query": widest}).status_code == 200


def test_a_get_with_a_body_is_refused(service: Service) -> None:
    answer = service.client.request("GET", "/api/v1/hybrid?query=a", content=b"{}")
    assert answer.status_code == 422
    assert problem_of(answer)["field"] == "body"


BODIES = [
    (b"", "body"),
    (b"{", "body"),
    (b"[]", "body"),
    (b'"text"', "body"),
    (b'{"query":"a"} {}', "body"),
    (b'{"query":NaN}', "body"),
    (b'{"query":"a","k":Infinity}', "body"),
    (b'{"query":"a","k":1e999}', "body"),
    (b'{"query":"\\ud800"}', "query"),
    (b'{"query":"\xff"}', "body"),
    (b'\xef\xbb\xbf{"query":"a"}', "body"),
    (b'{"query":"a","k":' + b"9" * 5000 + b"}", "body"),
    (b"[" * 60_000, "body"),
    (b'{"query":"a","query":"b"}', "query"),
    (b'{"query":"a","q":"b"}', "query"),
    (b'{"query":"a","k":{"a":1,"a":2}}', "a"),
    (b"{}", "query"),
    (b'{"query":null}', "query"),
    (b'{"query":["a"]}', "query"),
    (b'{"query":7}', "query"),
    (json.dumps({"query": LONG}).encode(), "query"),
    (b'{"query":"a","k":"6"}', "k"),
    (b'{"query":"a","k":6.0}', "k"),
    (b'{"query":"a","k":true}', "k"),
    (b'{"query":"a","k":null}', "k"),
    (b'{"query":"a","k":0}', "k"),
    (b'{"query":"a","k":13}', "k"),
    (b'{"query":"a","more":1}', "more"),
    (b'{"query":"a","sources":"doc"}', "sources"),
    (b'{"query":"a","sources":[]}', "sources"),
    (b'{"query":"a","sources":[1]}', "sources"),
    (b'{"query":"a","sources":["doc","doc"]}', "sources"),
    (b'{"query":"a","sources":["nowhere"]}', "sources"),
]


@pytest.mark.parametrize(("body", "field"), BODIES, ids=[repr(body[:40]) for body, _ in BODIES])
def test_a_body_outside_its_rules_is_refused(service: Service, body: bytes, field: str) -> None:
    answer = service.post("/api/v1/hybrid", body)
    assert answer.status_code == 422
    problem = problem_of(answer)
    assert problem["field"] == field
    assert problem["in"] == "body"


def test_a_post_with_a_query_string_is_refused(service: Service) -> None:
    answer = service.post("/api/v1/hybrid?k=3", {"query": "a"})
    assert answer.status_code == 422
    assert problem_of(answer)["field"] == "k"


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "application/json; charset=latin-1"},
        {"content-type": "application/jsonp"},
        {"content-type": ""},
        {"content-encoding": "gzip"},
    ],
)
def test_a_body_that_is_not_json_by_its_headers_is_a_415(service: Service, headers: dict[str, str]) -> None:
    answer = service.post("/api/v1/hybrid", {"query": "a"}, headers=headers)
    assert answer.status_code == 415
    problem_of(answer)


def test_a_media_type_may_name_its_charset(service: Service) -> None:
    headers = {"content-type": 'Application/JSON; charset="UTF-8"'}
    assert service.post("/api/v1/hybrid", {"query": "a"}, headers=headers).status_code == 200


def test_the_largest_body_is_read_and_a_larger_one_is_a_413(service: Service) -> None:
    body = b'{"query":"a"}'
    filled = body + b" " * (MAX_BODY_BYTES - len(body))
    assert service.post("/api/v1/hybrid", filled).status_code == 200
    for larger in (filled + b" ", filled * 3):
        answer = service.post("/api/v1/hybrid", larger)
        assert answer.status_code == 413
        assert answer.headers["connection"] == "close"
        problem_of(answer)


def test_a_larger_body_without_a_length_is_a_413_too(service: Service) -> None:
    headers = {"content-type": "application/json"}
    answer = service.client.post("/api/v1/hybrid", content=(b" " * 1000 for _ in range(80)), headers=headers)
    assert answer.status_code == 413


def test_a_body_that_does_not_come_is_a_408(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "BODY_SECONDS", 0.1)
    assert service.raw(HALF).startswith(b"HTTP/1.1 408 ")


def test_a_client_that_leaves_while_it_sends_does_no_harm(service: Service) -> None:
    with socket.create_connection((service.client.base_url.host, service.client.base_url.port)) as gone:
        gone.sendall(HALF)
    assert service.get("/healthz").status_code == 200


@given(st.text(max_size=60), st.integers(-3, 30))
def test_any_text_is_answered_or_refused_but_never_fails(service: Service, query: str, k: int) -> None:
    answer = service.get("/api/v1/hybrid", params={"query": query.encode("utf-8", "replace"), "k": k})
    assert answer.status_code == (200 if 1 <= k <= 12 else 422)


@given(st.binary(max_size=80))
def test_any_bytes_as_a_body_are_answered_or_refused(service: Service, body: bytes) -> None:
    assert service.post("/api/v1/hybrid", body).status_code in (200, 422)
