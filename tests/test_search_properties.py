"""What holds for every query: prefixes, repetition, no text in any payload, diversity, order of ties."""

import json
import subprocess
import sys

import pytest
from conftest import row, write_projection
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_providers import FixedDense, FixedReranker, hit

from secondbrain import (
    HybridSecondBrain,
    ProviderBoundaryError,
    Store,
    explain,
    index,
    navigator_context,
    retrieval_capabilities,
    retrieve,
    status,
)
from secondbrain.digests import canonical_json, canonical_sha256
from secondbrain.retrieval.fusion import fuse
from secondbrain.retrieval.verification import verify_receipt
from secondbrain.store.build import build

WORDS = [
    "ledger",
    "receipt",
    "chain",
    "formula",
    "locked",
    "authority",
    "Λ",
    "lambda",
    "合約",
    "run",
    "POL-358",
    '"run ledger"',
    "the",
    "zebra",
    "OpenFile",
]
QUERIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
FILLER = (
    "the quarterly inspection of copper fittings in coastal warehouses found no corrosion beyond tolerance",
    "seven painters catalogued pigments by weight and left the azure samples unnamed on the lower shelf",
    "migrating geese were counted from the northern pier at dawn by two patient volunteers with radios",
)


def corpus():
    for at in range(40):
        own = " ".join(WORDS[(at * step) % len(WORDS)].strip('"') for step in (1, 2, 3, 5))
        yield row(
            f"n:{at:02}",
            f"{own}. {FILLER[at % 3]}; {own} {at}.",
            title=f"Note {at} on {WORDS[at % 6]}",
            source=f"source-{at % 5}",
        )


ROWS = list(corpus())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("properties")
    build(write_projection(folder / "p.jsonl", ROWS), folder / "s.db")
    return folder


@pytest.fixture(scope="module")
def store(folder):
    return Store(folder / "s.db")


@st.composite
def dense_answers(draw):
    """Node ids with scores out of a small range, so that ties are common."""
    ids = draw(st.lists(st.sampled_from([one["id"] for one in ROWS]), unique=True, max_size=30))
    return [(node_id, draw(st.integers(0, 3)) / 4) for node_id in ids]


def brains(store, answer):
    hits = [hit(store, node_id, score) for node_id, score in answer]
    dense = FixedDense(store, hits)
    reranker = FixedReranker({one["id"]: len(one["id"]) * int(one["id"][-2:]) % 7 for one in ROWS})
    return (
        HybridSecondBrain(store),
        HybridSecondBrain(store, per_source_limit=0),
        HybridSecondBrain(store, dense_provider=dense),
        HybridSecondBrain(store, dense_provider=dense, reranker=reranker, per_source_limit=1),
    )


@given(query=QUERIES, answer=dense_answers())
def test_a_shorter_answer_is_the_head_of_a_longer_one(store, query, answer):
    for brain in brains(store, answer):
        longest = brain.context(query, k=12)
        for k in range(1, 12):
            shorter = brain.context(query, k=k)
            assert shorter["handles"] == longest["handles"][:k]
            assert shorter["ranking_receipt"]["selected"] == longest["ranking_receipt"]["selected"][:k]


@given(query=QUERIES, answer=dense_answers(), k=st.integers(1, 12))
def test_no_source_has_more_handles_than_its_limit(store, query, answer, k):
    for brain in brains(store, answer):
        limit = brain.plan.per_source_limit or 12
        sources = [handle["source"] for handle in brain.context(query, k)["handles"]]
        assert max(map(sources.count, sources), default=0) <= limit


@given(query=QUERIES, answer=dense_answers(), data=st.data())
def test_the_order_that_a_provider_chose_among_ties_changes_nothing(store, query, answer, data):
    shuffled = data.draw(st.permutations(answer))
    for one, other in zip(brains(store, answer), brains(store, shuffled), strict=True):
        assert canonical_json(one.context(query, 12)) == canonical_json(other.context(query, 12))


@given(query=QUERIES, answer=dense_answers().filter(bool), data=st.data())
def test_a_node_that_stands_twice_in_a_leg_is_refused(store, query, answer, data):
    hits = [hit(store, node_id, score) for node_id, score in answer]
    hits.insert(data.draw(st.integers(0, len(hits))), data.draw(st.sampled_from(hits)))
    with pytest.raises(ProviderBoundaryError, match="twice"):
        HybridSecondBrain(store, dense_provider=FixedDense(store, hits)).context(query)


def test_fusion_refuses_a_ranking_that_holds_a_candidate_twice():
    with pytest.raises(ValueError, match="twice"):
        fuse([([1, 2, 1], 1.0)])


@given(legs=st.lists(st.lists(st.integers(1, 9), unique=True), max_size=3), rrf_k=st.integers(1, 100))
def test_fusion_is_the_sum_of_reciprocal_ranks_in_a_total_order(legs, rrf_k):
    fused = fuse([(leg, 1.0) for leg in legs], rrf_k)
    expected = {
        one: sum(1 / (rrf_k + leg.index(one) + 1) for leg in legs if one in leg)
        for leg in legs
        for one in leg
    }
    assert dict(fused) == pytest.approx(expected)
    assert fused == sorted(fused, key=lambda one: (-one[1], one[0]))


@given(query=QUERIES, answer=dense_answers())
def test_evidence_and_digests_are_those_of_the_handles(store, query, answer):
    for brain in brains(store, answer):
        context = brain.context(query, 12)
        assert context["evidence"] == [
            {"node_id": one["nodeId"], "source": one["source"], "sha256": one["sha256"]}
            for one in context["handles"]
        ]
        assert context["evidence_set_sha256"] == canonical_sha256(context["evidence"])
        assert context["handles_sha256"] == canonical_sha256(context["handles"])
        assert context["ready"] == bool(context["handles"])
        selected = context["ranking_receipt"]["selected"]
        assert [node["node_id"] for node in selected] == [one["nodeId"] for one in context["handles"]]
        assert [node["rank"] for node in selected] == list(range(1, len(selected) + 1))
        assert verify_receipt(context, store=store)["state"] == "VERIFIED"


def strings_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_of(inner)


RUNS = {one["text"][at : at + 40] for one in ROWS for at in range(len(one["text"]) - 39)}


def leaks(payload):
    return [
        text
        for text in strings_of(payload)
        for at in range(max(0, len(text) - 39))
        if text[at : at + 40] in RUNS
    ]


@given(query=QUERIES, answer=dense_answers())
@settings(max_examples=25)
def test_no_run_of_40_characters_of_a_text_is_in_any_payload(store, query, answer):
    for brain in brains(store, answer):
        context = brain.context(query, 12)
        payloads = [context, verify_receipt(context, store=store), retrieval_capabilities(brain)]
        payloads += [explain(query, handle["nodeId"], brain=brain) for handle in context["handles"][:2]]
        assert not any(map(leaks, payloads))
    others = [retrieve(query, 12, store=store), navigator_context(query, 12, store=store)]
    assert not any(map(leaks, [*others, index(store=store), status(store=store)]))


def test_the_search_for_leaks_finds_one():
    assert leaks({"a": [{"b": "x" + ROWS[0]["text"][5:45]}]})


@given(query=QUERIES)
def test_a_receipt_holds_no_word_of_the_query(store, query):
    receipt = HybridSecondBrain(store).context(query)["ranking_receipt"]
    # What a receipt says beyond numbers and digests: names of its fields and states, and node ids.
    said = " ".join(strings_of(receipt)).lower().split()
    assert not {word.strip('"').lower() for word in query.split()} & set(said)


CHILD = """
import json, sys
from secondbrain import HybridSecondBrain, Store
brain = HybridSecondBrain(Store(sys.argv[1]))
for query in json.load(sys.stdin):
    print(json.dumps(brain.context(query, 12)))
"""


def test_a_fresh_process_gives_the_same_bytes(store, folder):
    queries = [" ".join(WORDS[at : at + 4]) for at in range(len(WORDS))] + ["", "🧠", "zebra crossing"]
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder / "s.db")],
        input=json.dumps(queries),
        capture_output=True,
        text=True,
        check=True,
    )
    brain = HybridSecondBrain(store)
    here = [json.dumps(brain.context(query, 12)) for query in queries]
    assert child.stdout.splitlines() == here
    assert [json.dumps(brain.context(query, 12)) for query in queries] == here
