"""An agent that answers with handles only: it searches, explains, verifies, and cites."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import anyio
import pytest
from conftest import ROWS
from mcp import Client, StdioServerParameters
from mcp_faces import application, over_http, over_stdio

from secondbrain import HybridSecondBrain, Store
from secondbrain.digests import canonical_json

Transport = Callable[[Store], AbstractContextManager[StdioServerParameters | str]]


class Agent:
    """Answers a question by citing the best handle, once its rank is explained and its receipt verified."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.read: list[str] = []
        """Everything that the agent was given to read."""

    async def answer(self, question: str) -> dict[str, Any] | None:
        """Return the citation that answers a question, or None where the brain abstains."""
        context = await self._ask("search_handles", query=question, k=3)
        if not context["ready"]:
            assert context["state"].startswith("ABSTAIN_")
            return None
        best = context["handles"][0]
        explanation = await self._ask("explain", query=question, node_id=best["nodeId"], k=3)
        assert explanation["outcome"] == "SELECTED"
        assert explanation["generation_sha256"] == context["generation_sha256"]
        verification = await self._ask("verify_receipt", context=context)
        assert verification["state"] == "VERIFIED"
        held = [question[term["start"] : term["end"]] for term in explanation["terms"] if term["held"]]
        return {"nodeId": best["nodeId"], "sha256": best["sha256"], "because": held}

    async def _ask(self, tool: str, **arguments: Any) -> Any:
        result = await self._client.call_tool(tool, arguments)
        assert not result.is_error
        self.read.append(canonical_json(result.model_dump(mode="json")))
        return result.structured_content


def _stdio(store: Store) -> AbstractContextManager[StdioServerParameters]:
    return nullcontext(over_stdio(store))


def _http(store: Store) -> AbstractContextManager[str]:
    return over_http(application(HybridSecondBrain(store)))


@pytest.mark.parametrize("transport", [_stdio, _http])
def test_an_agent_answers_three_questions_with_handles_only(store: Store, transport: Transport) -> None:
    rows = {one["id"]: one for one in ROWS}
    questions = {
        "What does a chain of receipts prove?": ("note:1", ["chain", "receipts", "prove"]),
        "Does the ledger keep failed runs?": ("doc:a:0002", ["ledger", "keep", "failed", "runs"]),
        "Is lambda uniqueness a conjecture?": ("doc:b:0001", ["lambda", "uniqueness", "conjecture"]),
    }

    async def run(server: StdioServerParameters | str) -> list[str]:
        async with Client(server) as client:
            agent = Agent(client)
            for question, (node_id, words) in questions.items():
                assert await agent.answer(question) == {
                    "nodeId": node_id,
                    "sha256": rows[node_id]["sha256"],
                    "because": words,
                }
            assert await agent.answer("Which zebra won the regatta?") is None
            return agent.read

    with transport(store) as server:
        read = anyio.run(run, server)
    assert len(read) == 3 * 3 + 1
    assert not [one["id"] for one in ROWS if any(one["text"] in answer for answer in read)]
