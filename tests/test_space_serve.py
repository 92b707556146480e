"""The server as an operator starts it: a process with its settings, its log, its end; MCP beside it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from conftest import ROOT
from space_service import build_store, serving

from secondbrain import ConfigurationError, HybridSecondBrain
from secondbrain.settings import Settings
from secondbrain.space.app import _bound, create_app
from secondbrain.store.opened import Store


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def wait_for(url: str, process: subprocess.Popen[str]) -> httpx.Response:
    for _ in range(200):
        try:
            return httpx.get(url, trust_env=False)
        except httpx.TransportError:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
    raise AssertionError(f"{url} did not answer")


def test_the_command_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    store, port = build_store(tmp_path), free_port()
    settings = {
        "SECOND_BRAIN_CORPUS": str(store.path),
        "SECOND_BRAIN_PORT": str(port),
        "SECOND_BRAIN_SOURCE_REVISION": "c" * 40,
    }
    process = subprocess.Popen(
        [sys.executable, "-c", "from secondbrain.space.app import serve; serve()"],
        cwd=ROOT,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        assert wait_for(f"{url}/readyz", process).json()["ready"] is True
        assert httpx.get(f"{url}/version", trust_env=False).json()["source_revision"] == "c" * 40
        assert httpx.get(f"{url}/api/v1/hybrid?q=unmistakable", trust_env=False).status_code == 200
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    assert err == ""
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["route"] for line in lines if line["event"] == "request"][-2:] == [
        "/version",
        "/api/v1/hybrid",
    ]
    assert "unmistakable" not in out
    assert process.returncode in (0, -signal.SIGTERM)


def test_the_service_opens_the_store_that_the_settings_name(tmp_path: Path) -> None:
    path = build_store(tmp_path).path
    app = create_app(Settings(corpus=str(path)))
    assert {"/docs", "/api/v1/hybrid"} <= {getattr(route, "path", "") for route in app.routes}


def test_the_default_settings_are_those_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECOND_BRAIN_CORPUS", str(build_store(tmp_path).path))
    monkeypatch.setenv("SECOND_BRAIN_METRICS", "1")
    assert "/metrics" in {getattr(route, "path", "") for route in create_app(pages=()).routes}


def test_without_the_library_of_the_page_serving_says_which_extra_is_missing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "secondbrain.space.page.routes", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'szl-second-brain\[serve\]'"):
        create_app(brain=HybridSecondBrain(store))


def test_a_service_without_a_page_has_the_api_alone(store: Store) -> None:
    app = create_app(brain=HybridSecondBrain(store), pages=())
    paths = {getattr(route, "path", "") for route in app.routes}
    assert "/" not in paths
    assert "/healthz" in paths


def test_mcp_is_served_beside_it_where_asked_for(store: Store) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    with serving(store, with_mcp=True) as service:
        answer = service.post("/mcp", call, headers=headers)
        assert service.get("/readyz").status_code == 200
    assert answer.status_code == 200
    assert "search_handles" in answer.text
    assert "x-request-id" in answer.headers
    with serving(store) as service:
        assert service.post("/mcp", call, headers=headers).status_code == 404


def test_the_listening_socket_is_named_as_tcp_so_that_no_answer_waits_for_an_acknowledgement() -> None:
    with _bound(Settings(port=free_port())) as listening:
        assert listening.proto == socket.IPPROTO_TCP
