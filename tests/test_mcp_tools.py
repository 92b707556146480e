"""The five tools: their schemas, their answers, what they refuse and how."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from conftest import ROOT, ROWS, write_projection
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.types import CallToolResult, Tool

from secondbrain import (
    HybridSecondBrain,
    ProviderUnavailable,
    Store,
    explain,
    frontier_search,
    schemas,
    status,
    wire,
)
from secondbrain.digests import canonical_json
from secondbrain.mcp import create_server
from secondbrain.retrieval.verification import verify_receipt
from secondbrain.store.build import build

OUTPUTS = {
    "search_handles": wire.CONTEXT,
    "frontier_search": wire.FRONTIER_SEARCH,
    "explain": wire.EXPLANATION,
    "status": wire.STATUS,
    "verify_receipt": wire.VERIFICATION,
}


def call(brain: HybridSecondBrain, tool: str, **arguments: Any) -> CallToolResult:
    """Call one tool of a server over a brain."""

    async def run() -> CallToolResult:
        async with Client(create_server(brain)) as client:
            return await client.call_tool(tool, arguments)

    return anyio.run(run)


def refusal(brain: HybridSecondBrain, tool: str, **arguments: Any) -> str:
    """Return what a refused call says."""
    result = call(brain, tool, **arguments)
    assert result.is_error
    assert result.structured_content is None
    [said] = result.content
    return str(said.text)  # type: ignore[union-attr]


def listed(brain: HybridSecondBrain) -> dict[str, Tool]:
    async def run() -> dict[str, Tool]:
        async with Client(create_server(brain)) as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

    return anyio.run(run)


@pytest.fixture(scope="module")
def brain(tmp_path_factory: pytest.TempPathFactory) -> HybridSecondBrain:
    folder = tmp_path_factory.mktemp("mcp")
    projection = write_projection(folder / "projection.jsonl", ROWS)
    return HybridSecondBrain(Store(build(projection, folder / "store.db", frontier=ROOT / "frontier").path))


def test_there_are_five_tools_and_nothing_else(brain: HybridSecondBrain) -> None:
    async def run() -> None:
        async with Client(create_server(brain)) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == list(OUTPUTS)
            assert (await client.list_resources()).resources == []
            assert (await client.list_prompts()).prompts == []

    anyio.run(run)


def test_every_output_schema_is_that_of_the_wire_type(brain: HybridSecondBrain) -> None:
    for name, tool in listed(brain).items():
        wanted = schemas.json_schema(OUTPUTS[name])
        del wanted["$schema"], wanted["$id"]
        assert tool.output_schema == wanted


def test_every_tool_says_that_it_only_reads(brain: HybridSecondBrain) -> None:
    for tool in listed(brain).values():
        assert tool.annotations is not None
        assert tool.annotations.model_dump(exclude_none=True) == {
            "read_only_hint": True,
            "destructive_hint": False,
            "idempotent_hint": True,
            "open_world_hint": False,
        }
        assert tool.title
        assert tool.description


def test_every_input_schema_is_closed_and_bounds_k(brain: HybridSecondBrain) -> None:
    tools = listed(brain)
    for tool in tools.values():
        assert tool.input_schema["additionalProperties"] is False
        Draft202012Validator.check_schema(tool.input_schema)
    for name, most in (("search_handles", 12), ("explain", 12), ("frontier_search", 24)):
        k = tools[name].input_schema["properties"]["k"]
        assert (k["type"], k["minimum"], k["maximum"]) == ("integer", 1, most)


def test_every_answer_is_the_librarys_payload_byte_for_byte(brain: HybridSecondBrain) -> None:
    question = "what does a chain of receipts prove"
    context = brain.context(question, 3)
    store = brain.store
    expected: list[tuple[str, dict[str, Any], Any]] = [
        ("search_handles", {"query": question, "k": 3}, context),
        ("search_handles", {"query": question, "sources": ["doc"]}, brain.context(question, sources=["doc"])),
        ("search_handles", {"query": "  "}, brain.context("  ")),
        ("search_handles", {"query": "zebra"}, brain.context("zebra")),
        ("frontier_search", {"query": "lambda proof"}, frontier_search("lambda proof", store=store)),
        ("explain", {"query": question, "node_id": "note:1"}, explain(question, "note:1", brain=brain)),
        ("status", {}, status(store=store)),
        ("verify_receipt", {"context": context}, verify_receipt(context, store=store)),
    ]
    tools = listed(brain)
    for tool, arguments, payload in expected:
        result = call(brain, tool, **arguments)
        assert not result.is_error
        assert canonical_json(result.structured_content) == canonical_json(payload)
        assert [part.text for part in result.content] == [canonical_json(payload)]  # type: ignore[union-attr]
        Draft202012Validator(tools[tool].output_schema).validate(result.structured_content)
        assert not [one["id"] for one in ROWS if one["text"] in str(result.content)]


def test_an_altered_answer_is_found_tampered(brain: HybridSecondBrain) -> None:
    context = json.loads(canonical_json(brain.context("receipts")))
    context["handles"][0]["note"] = "Something else"
    result = call(brain, "verify_receipt", context=context)
    assert result.structured_content is not None
    assert result.structured_content["state"] == "TAMPERED"


@pytest.mark.parametrize("tool", list(OUTPUTS))
def test_an_unknown_argument_is_refused_and_its_value_not_repeated(
    brain: HybridSecondBrain, tool: str
) -> None:
    known = {"query": "receipts", "node_id": "note:1", "context": {}}
    wanted = listed(brain)[tool].input_schema.get("required", [])
    said = refusal(brain, tool, **{name: known[name] for name in wanted}, authorize="OPEN SESAME")
    assert "authorize" in said
    assert "SESAME" not in said


@pytest.mark.parametrize("tool", ["search_handles", "explain"])
def test_a_wrong_k_is_refused(brain: HybridSecondBrain, tool: str) -> None:
    arguments = {"query": "receipts"} | ({"node_id": "note:1"} if tool == "explain" else {})

    async def run() -> None:
        async with Client(create_server(brain)) as client:
            for k in (0, -1, 13, 2**70, True, "6", 6.0, None):
                result = await client.call_tool(tool, arguments | {"k": k})
                assert (k, result.is_error) == (k, True)
                assert "\nk\n" in result.content[0].text  # type: ignore[union-attr]

    anyio.run(run)


def test_a_frontier_search_takes_k_to_24(brain: HybridSecondBrain) -> None:
    result = call(brain, "frontier_search", query="formula lambda proof receipt", k=24)
    assert result.structured_content is not None
    assert result.structured_content["k"] == 24
    assert "\nk\n" in refusal(brain, "frontier_search", query="formula", k=25)


def test_a_query_of_another_type_or_too_long_is_refused(brain: HybridSecondBrain) -> None:
    for query in ("x" * 2001, 7, None, ["a"]):
        said = refusal(brain, "search_handles", query=query)
        assert "query" in said
        assert "xxx" not in said
    assert "query" in refusal(brain, "search_handles")


def test_a_fault_of_the_caller_is_told_in_our_words(brain: HybridSecondBrain) -> None:
    assert "which this corpus lacks" in refusal(brain, "search_handles", query="a", sources=["nowhere"])
    assert "which this corpus lacks" in refusal(brain, "explain", query="receipts", node_id="nobody")
    assert "blank" in refusal(brain, "explain", query=" ", node_id="note:1")
    assert "Field required" in refusal(brain, "verify_receipt", context={"schema": "another"})
    assert "kind" in refusal(brain, "frontier_search", query="a", kind="no such kind")


def test_a_fault_of_the_store_is_told_by_its_type_and_logged_for_the_operator(
    make_store: Callable[..., Store], caplog: pytest.LogCaptureFixture
) -> None:
    store = make_store()
    brain = HybridSecondBrain(store)
    store.path.unlink()
    said = refusal(brain, "explain", query="receipts", node_id="note:1")
    assert "StoreIntegrityError" in said
    assert str(store.path) not in said
    assert str(store.path) in caplog.text
    for tool, arguments in (
        ("search_handles", {"query": "a"}),
        ("status", {}),
        ("frontier_search", {"query": "a"}),
    ):
        payload = call(brain, tool, **arguments).structured_content
        assert payload is not None
        assert (payload["state"], payload["error_type"]) == ("UNAVAILABLE", "StoreIntegrityError")


class _OutOfTheBlue(Store):
    """A store in whose process something goes wrong that nobody foresaw."""

    fault: Exception = RuntimeError("at /srv/private: the text of a chunk")

    def reader(self) -> Any:
        raise self.fault


def test_an_unexpected_error_is_masked(store: Store) -> None:
    brain = HybridSecondBrain(_OutOfTheBlue(store.path))
    assert refusal(brain, "search_handles", query="a") == "Error executing tool search_handles"


def test_an_adapters_own_words_are_not_passed_on(store: Store) -> None:
    broken = _OutOfTheBlue(store.path)
    broken.fault = ProviderUnavailable("https://user:secret@model.example is down")
    said = refusal(HybridSecondBrain(broken), "search_handles", query="a")
    assert "ProviderUnavailable" in said
    assert "secret" not in said


def test_an_unknown_tool_is_refused(brain: HybridSecondBrain) -> None:
    assert "hydrate" in refusal(brain, "hydrate", handles=[])


def test_a_server_leaves_the_programs_logging_alone(store: Store) -> None:
    root = logging.getLogger()
    kept, root.handlers = root.handlers, []
    try:
        create_server(HybridSecondBrain(store))
        assert root.handlers == []
    finally:
        root.handlers = kept


def _python(program: str) -> str:
    environment = {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_library_is_imported_without_the_sdk() -> None:
    assert _python("import sys, secondbrain; print('mcp' in sys.modules)") == "False\n"


def test_without_the_extra_the_remedy_is_named() -> None:
    said = _python(
        "import sys; sys.modules['mcp'] = None\n"
        "from secondbrain import ConfigurationError\n"
        "try: import secondbrain.mcp\n"
        "except ConfigurationError as error: print(error)"
    )
    assert "pip install 'szl-second-brain[mcp]'" in said
