"""What is too much is refused at once: requests together, requests of one client, heads, connections."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import pytest
from space_service import QUIET, Service, problem_of, serving

from secondbrain import ConfigurationError, HybridSecondBrain
from secondbrain.settings import Settings
from secondbrain.space import connections
from secondbrain.space.app import create_app
from secondbrain.space.limits import MAX_HEAD_BYTES, client_of, parse_rate
from secondbrain.store.opened import Store

BUSY = (
    b"POST /api/v1/hybrid HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 13\r\n\r\n"
)


def test_one_request_too_many_is_a_503_at_once(store: Store) -> None:
    with serving(store, replace(QUIET, max_concurrency=2)) as service:
        address = service.client.base_url.host, service.client.base_url.port
        waiting = [socket.create_connection(address) for _ in range(2)]
        try:
            for one in waiting:
                one.sendall(BUSY)  # and no body yet: both are inside
            time.sleep(0.2)
            began = time.perf_counter()
            answer = service.get("/api/v1/index")
            assert time.perf_counter() - began < 0.5
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == "1"
            assert problem_of(answer)["type"] == "/docs#overloaded"
            assert service.get("/healthz").status_code == service.get("/readyz").status_code == 200
            for one in waiting:
                one.sendall(b'{"query":"a"}')
                assert one.recv(12) == b"HTTP/1.1 200"
        finally:
            for one in waiting:
                one.close()
        assert service.get("/api/v1/index").status_code == 200


def test_a_burst_is_answered_or_refused_and_nothing_hangs(store: Store) -> None:
    with serving(store, replace(QUIET, max_concurrency=4)) as service:
        url = f"{service.client.base_url}/api/v1/hybrid?query=receipts"

        def ask(_: int) -> int:
            return httpx.get(url, trust_env=False, timeout=10).status_code

        with ThreadPoolExecutor(16) as pool:
            found = set(pool.map(ask, range(120)))
        assert 200 in found
        assert found <= {200, 503}
        assert service.get("/api/v1/index").status_code == 200


def test_a_client_has_its_rate_and_probes_have_none(store: Store) -> None:
    with serving(store, Settings(rate_limit="3/minute")) as service:
        assert [service.get("/api/v1/index").status_code for _ in range(4)] == [200, 200, 200, 429]
        refused = service.get("/nothing")
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert problem_of(refused)["type"] == "/docs#too-many"
        assert service.get("/healthz").status_code == service.get("/readyz").status_code == 200


def forwarded(service: Service, *addresses: str) -> list[int]:
    return [
        service.get("/api/v1/index", headers={"x-forwarded-for": address}).status_code
        for address in addresses
    ]


def test_a_forwarded_address_is_not_believed_from_anyone(store: Store) -> None:
    with serving(store, Settings(rate_limit="1/minute")) as service:
        assert forwarded(service, "192.0.2.1", "192.0.2.2") == [200, 429]


def test_a_forwarded_address_is_believed_from_a_named_proxy(store: Store) -> None:
    settings = Settings(rate_limit="1/minute", trusted_proxies="127.0.0.0/8, 198.51.100.7")
    with serving(store, settings) as service:
        assert forwarded(service, "192.0.2.1", "192.0.2.2", "192.0.2.1") == [200, 200, 429]
        # What a client writes in front of its own address buys nothing, nor does a made-up name.
        assert forwarded(service, "203.0.113.5, 192.0.2.1", "192.0.2.3, 198.51.100.7") == [429, 200]
        assert forwarded(service, "name", "another name") == [200, 429]
        # An IPv6 client has its whole /64.
        assert forwarded(service, "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1") == [200, 429, 200]


@pytest.mark.parametrize(
    ("address", "client"),
    [("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8::7", "2001:db8::/64")],
)
def test_a_client_is_its_address_or_its_network(address: str, client: str) -> None:
    assert client_of({"client": (address, 1)}) == client
    assert client_of({"client": None}) == "unknown"


@pytest.mark.parametrize(
    ("settings", "variable"),
    [
        (Settings(rate_limit="often"), "RATE_LIMIT"),
        (Settings(trusted_proxies="*"), "TRUSTED_PROXIES"),
        (Settings(trusted_proxies="proxy.example.org"), "TRUSTED_PROXIES"),
        (Settings(allowed_hosts="a*.example.org"), "ALLOWED_HOSTS"),
        (Settings(frame_ancestors="https://a.example; script-src *"), "FRAME_ANCESTORS"),
        (Settings(frame_ancestors="'none', 'self'"), "FRAME_ANCESTORS"),
    ],
)
def test_a_setting_that_cannot_be_followed_stops_the_service(
    store: Store, settings: Settings, variable: str
) -> None:
    with pytest.raises(ConfigurationError, match=variable), serving(store, settings):
        raise AssertionError


@pytest.mark.parametrize(
    ("settings", "module"), [(Settings(), "limits"), (Settings(metrics=True), "prometheus_client")]
)
def test_a_setting_that_needs_an_extra_names_it(
    store: Store, monkeypatch: pytest.MonkeyPatch, settings: Settings, module: str
) -> None:
    import sys

    from secondbrain import HybridSecondBrain

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigurationError, match=r"szl-second-brain\[serve\]"):
        create_app(settings, brain=HybridSecondBrain(store), pages=())


def test_no_rate_needs_no_library() -> None:
    assert parse_rate("") is None


def test_a_head_that_is_too_large_is_a_431(store: Store) -> None:
    with serving(store) as service:
        for start in (b"GET /", b"GET / HTTP/1.1\r\nhost: a\r\nx: "):
            assert service.raw(start + b"a" * (MAX_HEAD_BYTES + 1)).startswith(b"HTTP/1.1 431 ")
        assert service.get("/healthz").status_code == 200


def test_a_head_that_does_not_come_is_not_waited_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    with serving(store) as service:
        for part in (b"", b"GET / HT", b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\nGET / HT"):
            began = time.perf_counter()
            service.raw(part)
            assert time.perf_counter() - began < 1.5
        # A connection that asks in time is kept.
        assert service.get("/healthz").status_code == 200


@pytest.mark.parametrize("size", [33_000, 60_000])
def test_a_head_that_is_too_large_and_comes_at_once_is_a_431(store: Store, size: int) -> None:
    with serving(store) as service:
        answer = service.raw(b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-a: " + b"a" * size + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 431")


@pytest.mark.parametrize(
    "first",
    [
        b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n",
        b"POST /nope HTTP/1.1\r\nhost: x\r\ncontent-length: 60000\r\n\r\n",
    ],
)
def test_what_comes_after_an_answer_and_is_no_request_keeps_no_connection(
    store: Store, monkeypatch: pytest.MonkeyPatch, first: bytes
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
    with serving(store) as service:
        address = urlsplit(str(service.client.base_url))
        with socket.create_connection((address.hostname, address.port), timeout=5) as connection:
            connection.sendall(first)
            assert connection.recv(65536).startswith(b"HTTP/1.1 ")
            connection.sendall(b"\r")
            began = time.monotonic()
            while connection.recv(65536):
                pass
        assert time.monotonic() - began < 3


def test_a_client_that_does_not_read_its_answers_loses_its_place(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SEND_SECONDS", 0.5)
    with serving(store, replace(QUIET, max_concurrency=1)) as service:
        address = urlsplit(str(service.client.base_url))
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect((address.hostname, address.port))
            deaf.sendall(b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n" * 400)
            for awaited in (503, 200):  # its place is taken, and then free again
                until = time.monotonic() + 10
                statuses = iter(lambda: service.get("/api/v1/index").status_code, None)
                assert any(status == awaited or time.monotonic() > until for status in statuses)
                assert time.monotonic() < until, f"no answer was {awaited}"


@pytest.mark.parametrize("origin", ["example.org", "https://a/b", "https://*.a"])
def test_an_origin_that_no_browser_sends_stops_the_service(store: Store, origin: str) -> None:
    with pytest.raises(ConfigurationError, match="CORS_ORIGINS"):
        create_app(replace(QUIET, cors_origins=origin), brain=HybridSecondBrain(store), pages=())
