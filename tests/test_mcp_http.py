"""MCP over streamable HTTP: the SDK's client against a real uvicorn, and who is turned away."""

import json
from collections.abc import Iterator
from typing import Any

import anyio
import httpx
import pytest
from conftest import ROWS, write_projection
from mcp import Client
from mcp_faces import application, over_http
from starlette.testclient import TestClient

from secondbrain import ConfigurationError, HybridSecondBrain, Store, status
from secondbrain.digests import canonical_json
from secondbrain.mcp import MAX_REQUEST_BYTES, mount_mcp
from secondbrain.settings import Settings
from secondbrain.space.app import create_app
from secondbrain.store.build import build

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
MODERN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
MODERN_HEADERS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}


@pytest.fixture(scope="module")
def brain(tmp_path_factory: pytest.TempPathFactory) -> HybridSecondBrain:
    folder = tmp_path_factory.mktemp("mcp")
    projection = write_projection(folder / "projection.jsonl", ROWS)
    return HybridSecondBrain(Store(build(projection, folder / "store.db").path))


@pytest.fixture(scope="module")
def address(brain: HybridSecondBrain) -> Iterator[str]:
    with over_http(application(brain)) as address:
        yield address


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdks_client_gets_the_librarys_payload(brain: HybridSecondBrain, address: str, mode: str) -> None:
    async def run() -> Any:
        async with Client(address, mode=mode) as client:
            return await client.call_tool("search_handles", {"query": "chain of receipts", "k": 2})

    result = anyio.run(run)
    assert canonical_json(result.structured_content) == canonical_json(brain.context("chain of receipts", 2))


def test_many_clients_are_answered_at_once(brain: HybridSecondBrain, address: str) -> None:
    questions = ["receipts", "ledger of runs", "lambda", "formula authority"] * 2
    answers: dict[int, Any] = {}

    async def ask(number: int) -> None:
        async with Client(address) as client:
            result = await client.call_tool("search_handles", {"query": questions[number]})
            answers[number] = result.structured_content

    async def run() -> None:
        async with anyio.create_task_group() as group:
            for number in range(len(questions)):
                group.start_soon(ask, number)

    anyio.run(run)
    assert answers == {number: brain.context(question) for number, question in enumerate(questions)}


@pytest.mark.parametrize(
    ("message", "era"), [(LIST, {}), (MODERN, MODERN_HEADERS)], ids=["handshake", "modern"]
)
def test_host_and_origin_are_checked_independently(
    brain: HybridSecondBrain, message: dict[str, Any], era: dict[str, str]
) -> None:
    named = application(brain, ["Brain.example", "localhost"], ["https://page.example"])
    cases = [
        ({"Host": "brain.example"}, 200),
        ({"Host": "brain.example:8443"}, 200),
        ({"Host": "localhost:7860"}, 200),
        ({"Host": "brain.example", "Origin": "https://page.example"}, 200),
        ({"Host": "brain.example", "Origin": "https://brain.example"}, 403),
        ({"Host": "brain.example", "Origin": "https://page.example:444"}, 403),
        ({"Host": "brain.example", "Origin": "http://page.example"}, 403),
        ({"Host": "brain.example", "Origin": "null"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "brain.example.evil.example"}, 421),
        ({"Host": "evil.example", "Origin": "https://page.example"}, 421),
        ({"Host": "evil.example", "Origin": "https://evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
    ]
    with over_http(named) as address, httpx.Client() as client:
        for headers, wanted in cases:
            answer = client.post(address, json=message, headers=HEADERS | era | headers)
            assert (headers, answer.status_code) == (headers, wanted)
            assert ("tools" in answer.text) == (wanted == 200)


def test_any_host_means_the_loopback_names_here(address: str) -> None:
    with httpx.Client() as client:
        for host, wanted in (
            ("127.0.0.1:1", 200),
            ("localhost", 200),
            ("[::1]:80", 200),
            ("rebound.example", 421),
        ):
            answer = client.post(address, json=LIST, headers=HEADERS | {"Host": host})
            assert (host, answer.status_code) == (host, wanted)
        page = {"Origin": address.removesuffix("/mcp")}
        assert client.post(address, json=LIST, headers=HEADERS | page).status_code == 403


@pytest.mark.parametrize(("hosts", "origins"), [(["*.example"], []), (["a.example"], ["*"])])
def test_a_pattern_is_refused_at_the_start(
    brain: HybridSecondBrain, hosts: list[str], origins: list[str]
) -> None:
    with pytest.raises(ConfigurationError, match="is a pattern"):
        mount_mcp(brain, hosts, origins)


def test_only_post_is_answered_and_no_session_is_opened(address: str) -> None:
    with httpx.Client(headers=HEADERS) as client:
        for method in ("GET", "DELETE", "PUT", "HEAD"):
            answer = client.request(method, address)
            assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
        answer = client.post(address, json=LIST)
        assert "mcp-session-id" not in answer.headers
        assert answer.headers["Content-Type"] == "application/json"


def test_an_oversized_or_broken_body_is_refused(address: str) -> None:
    with httpx.Client(headers=HEADERS) as client:
        assert client.post(address, content=b" " * (MAX_REQUEST_BYTES + 1)).status_code == 413
        assert client.post(address, content=b"{").status_code == 400
        assert client.post(address, content=b"[" * 5000).status_code == 400
        assert (
            client.post(address, content=json.dumps(LIST), headers={"Content-Type": "text/plain"}).status_code
            == 400
        )
        assert client.post(address, json=LIST).status_code == 200


def test_the_receipt_of_the_longest_query_fits(brain: HybridSecondBrain, address: str) -> None:
    context = brain.context("receipt a1 " * 181)

    async def run() -> Any:
        async with Client(address) as client:
            return await client.call_tool("verify_receipt", {"context": context})

    result = anyio.run(run)
    assert result.structured_content["state"] == "VERIFIED"
    assert len(canonical_json(context)) * 4 < MAX_REQUEST_BYTES


def test_an_application_may_stop_and_start_again(brain: HybridSecondBrain) -> None:
    app = application(brain)
    for _ in range(2):
        with TestClient(app, base_url="http://localhost") as client:
            assert client.post("/mcp", json=LIST, headers=HEADERS).status_code == 200


def test_the_programs_own_application_serves_it_behind_its_limits(brain: HybridSecondBrain) -> None:
    settings = Settings(allowed_hosts="127.0.0.1,brain.example")

    async def run(address: str) -> Any:
        async with Client(address) as client:
            return await client.call_tool("status", {})

    with over_http(create_app(settings, brain=brain, with_mcp=True)) as address:
        assert anyio.run(run, address).structured_content == status(store=brain.store)
        for headers, wanted in (({"Host": "evil.example"}, 421), ({"Origin": "https://evil.example"}, 403)):
            assert httpx.post(address, json=LIST, headers=HEADERS | headers).status_code == wanted
    with over_http(create_app(settings, brain=brain)) as address:
        assert httpx.post(address, json=LIST, headers=HEADERS).status_code == 404
