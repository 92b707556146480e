"""Inputs that broke other search tools, each with the right answer."""

import json

import pytest
from conftest import SHARED, row

import secondbrain
from secondbrain import HybridSecondBrain

CASES = SHARED / "cases" / "queries.jsonl"
LINES = [json.loads(line) for line in CASES.read_text("utf-8").split("\n") if line] if CASES.exists() else []


def documents_of(case):
    for node_id, document in case["documents"].items():
        text, title = (document, None) if isinstance(document, str) else (document["text"], document["title"])
        yield row(node_id, text, title=title)


@pytest.mark.skipif(not LINES, reason="the shared material is not beside this checkout")
@pytest.mark.parametrize("case", LINES, ids=[case["case"] for case in LINES])
def test_a_query_that_broke_other_tools_is_answered(case, make_store):
    brain = HybridSecondBrain(make_store(documents_of(case)))
    if "error" in case:
        with pytest.raises(getattr(secondbrain, case["error"])):
            brain.context(case["query"])
        return
    context = brain.context(case["query"])
    assert context["state"] == case["state"]
    assert [handle["nodeId"] for handle in context["handles"]][:1] == (
        [case["first"]] if "first" in case else []
    )
