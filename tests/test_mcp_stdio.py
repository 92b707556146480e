"""MCP over standard input and output: the SDK's client with a real subprocess, and the raw stream."""

import io
import json
import signal
import subprocess
import sys
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_faces import RUN_STDIO, over_stdio

from secondbrain import HybridSecondBrain, Store
from secondbrain.digests import canonical_json
from secondbrain.mcp import run_stdio

CHATTER = """
import os
from secondbrain import DenseBinding, HybridSecondBrain, ProviderUnavailable, default_store
from secondbrain.mcp import run_stdio

class Chatty:
    binding = DenseBinding("m", "a" * 40, 3, default_store().snapshot().generation_sha256)
    def search(self, query, limit):
        print("CHATTER from Python", flush=True)
        os.system("echo CHATTER from a child")
        raise ProviderUnavailable("down")

run_stdio(HybridSecondBrain(dense_provider=Chatty()))
"""
LOST = """
import os
from secondbrain import HybridSecondBrain, Store
from secondbrain.mcp import run_stdio

store = Store(os.environ["SECOND_BRAIN_CORPUS"])
os.unlink(store.path)
run_stdio(HybridSecondBrain(store))
"""


def conversation(*calls: tuple[str, dict[str, Any]]) -> str:
    """Return the lines that a client of the 2025-06-18 protocol sends for some calls."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    }
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    for number, (tool, arguments) in enumerate(calls, 1):
        params = {"name": tool, "arguments": arguments}
        messages.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    return "".join(json.dumps(message) + "\n" for message in messages)


def spoken(
    store: Store, program: str, *calls: tuple[str, dict[str, Any]]
) -> tuple[list[dict[str, Any]], str]:
    """Hold a raw conversation with a server; returns the messages on its output, by id, and its log."""
    how = over_stdio(store, program)
    with subprocess.Popen(
        [how.command, *how.args],
        env=how.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write(conversation(*calls))
        server.stdin.flush()
        answers = [server.stdout.readline() for _ in range(len(calls) + 1)]
        server.stdin.close()
        rest = server.stdout.read()
        log = server.stderr.read()
        assert server.wait(10) == 0
    assert rest == ""
    messages = [json.loads(line) for line in answers]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    return sorted(messages, key=lambda message: int(message["id"])), log


def test_the_sdks_client_gets_the_librarys_payload(store: Store) -> None:
    async def run() -> Any:
        async with Client(over_stdio(store)) as client:
            return await client.call_tool("search_handles", {"query": "chain of receipts", "k": 2})

    expected = HybridSecondBrain(store).context("chain of receipts", 2)
    assert canonical_json(anyio.run(run).structured_content) == canonical_json(expected)


def test_nothing_but_the_protocol_is_on_standard_output(store: Store) -> None:
    messages, log = spoken(
        store,
        RUN_STDIO,
        ("search_handles", {"query": "receipts"}),
        ("search_handles", {"query": "receipts", "k": 99}),
        ("no_such_tool", {}),
        ("explain", {"query": "receipts", "node_id": "nobody"}),
    )
    assert messages[0]["result"]["serverInfo"]["name"] == "second-brain"
    assert [message["result"]["isError"] for message in messages[1:]] == [False, True, True, True]
    assert log == ""


def test_what_a_provider_prints_misses_the_wire(store: Store) -> None:
    messages, log = spoken(store, CHATTER, ("search_handles", {"query": "receipts"}))
    receipt = messages[1]["result"]["structuredContent"]["ranking_receipt"]
    assert receipt["mode"] == "BM25_FALLBACK_DENSE_UNAVAILABLE"
    assert "CHATTER" not in json.dumps(messages)
    assert "CHATTER from Python" in log
    assert "CHATTER from a child" in log


def test_the_operator_reads_in_the_log_what_the_caller_is_not_told(store: Store) -> None:
    messages, log = spoken(store, LOST, ("explain", {"query": "receipts", "node_id": "note:1"}))
    assert messages[1]["result"]["isError"] is True
    assert str(store.path) not in json.dumps(messages)
    assert f"WARNING secondbrain.mcp: StoreIntegrityError: {store.path}" in log


def test_an_interrupt_ends_it_at_once(store: Store) -> None:
    how = over_stdio(store)
    with subprocess.Popen(
        [how.command, *how.args], env=how.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(conversation().encode())
        server.stdin.flush()
        server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(5) == -signal.SIGINT


def test_it_ends_with_its_input(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(conversation().encode())))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out))
    interrupt = signal.getsignal(signal.SIGINT)
    run_stdio(HybridSecondBrain(store))
    assert signal.getsignal(signal.SIGINT) is interrupt
    [answer] = out.getvalue().splitlines()
    assert json.loads(answer)["result"]["serverInfo"]["title"] == "Second Brain"
