"""Verification of a context that somebody hands back: VERIFIED, STALE or TAMPERED, and nothing else."""

import copy
import json

import pytest
from conftest import ROWS, row, write_projection
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_providers import FixedDense, FixedReranker, hit

from secondbrain import HybridSecondBrain, RetrievalBoundaryError, SecondBrainError, Store
from secondbrain.digests import canonical_sha256
from secondbrain.retrieval.receipt import context_sha256
from secondbrain.retrieval.verification import verify_receipt
from secondbrain.store.build import build


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("receipts")
    return Store(build(write_projection(folder / "p.jsonl", ROWS), folder / "s.db").path)


@pytest.fixture
def context(store):
    dense = FixedDense(store, [hit(store, "note:1", 0.9), hit(store, "doc:b:0001", 1)])
    brain = HybridSecondBrain(store, dense_provider=dense, reranker=FixedReranker({"note:1": 1}))
    return json.loads(json.dumps(brain.context("receipt chain")))


def findings(payload, store):
    result = verify_receipt(payload, store=store)
    assert result["ready"] == (result["state"] == "VERIFIED") == (not result["findings"])
    assert {finding["check"] for finding in result["findings"]} <= set(result["checked"])
    return result["state"], [finding["check"] for finding in result["findings"]]


def resealed(context):
    context["evidence_set_sha256"] = canonical_sha256(context["evidence"])
    context["handles_sha256"] = canonical_sha256(context["handles"])
    context["context_sha256"] = context_sha256(context)
    return context


def test_a_context_that_came_back_as_it_left_is_verified(store, context):
    assert findings(context, store) == ("VERIFIED", [])
    for query in ("", "🧠", "zebra"):
        assert findings(HybridSecondBrain(store).context(query), store) == ("VERIFIED", [])


@pytest.mark.parametrize("digest", ["evidence_set_sha256", "handles_sha256", "context_sha256"])
def test_a_digest_of_something_else_is_tampered(store, context, digest):
    context[digest] = "0" * 64
    assert findings(context, store) == ("TAMPERED", [digest])


def test_a_changed_evidence_is_tampered_with_and_without_its_digest(store, context):
    context["evidence"][0]["sha256"] = "0" * 64
    assert findings(context, store) == ("TAMPERED", ["evidence_set_sha256", "evidence"])
    assert findings(resealed(context), store) == ("TAMPERED", ["evidence"])


def test_a_changed_note_is_tampered_with_and_without_its_digest(store, context):
    context["handles"][1]["note"] = "Proven beyond doubt"
    assert findings(context, store) == ("TAMPERED", ["handles_sha256"])
    result = verify_receipt(resealed(context), store=store)
    assert result["findings"] == [{"check": "handles", "detail": "handle 2 is not the stored one"}]


def test_a_key_too_many_in_a_handle_is_tampered(store, context):
    context["handles"][0]["text"] = "smuggled"
    assert findings(context, store) == ("TAMPERED", ["handles_sha256"])
    assert findings(resealed(context), store) == ("TAMPERED", ["handles"])


def test_a_key_that_has_no_canonical_json_is_tampered(store, context):
    context["handles"][0]["score"] = float("nan")
    assert findings(context, store) == ("TAMPERED", ["handles_sha256"])


def test_a_handle_that_the_corpus_lacks_is_tampered(store, context):
    context["handles"][0]["nodeId"] = context["evidence"][0]["node_id"] = "doc:z"
    context["ranking_receipt"]["selected"][0]["node_id"] = "doc:z"
    assert findings(resealed(context), store) == ("TAMPERED", ["handles"])


def test_handles_in_another_order_are_tampered(store, context):
    context["handles"].reverse()
    context["evidence"].reverse()
    assert findings(resealed(context), store) == ("TAMPERED", ["selected"])


@pytest.mark.parametrize(
    "change",
    [
        lambda context: context["ranking_receipt"]["selected"][0].update(sparse_score=-99.0),
        lambda context: context["ranking_receipt"]["selected"][0].update(rank=9, coverage=0.0),
        lambda context: context["ranking_receipt"].update(mode="BM25_ONLY"),
        lambda context: context["ranking_receipt"]["abstention"].update(min_coverage=0.9),
        lambda context: context["ranking_receipt"].update(per_source_limit=1),
        lambda context: context.update(query_sha256="0" * 64),
        lambda context: context.update(honesty="Everything here is proven."),
        lambda context: context.update(corpus_n=999_999),
    ],
)
def test_whatever_else_is_changed_breaks_the_digest_of_the_context(store, context, change):
    change(context)
    assert findings(context, store) == ("TAMPERED", ["context_sha256"])


def test_a_wrong_count_of_chunks_is_tampered_with_its_digest_too(store, context):
    context["corpus_n"] = 999_999
    assert findings(resealed(context), store) == ("TAMPERED", ["corpus_n"])


def test_an_abstention_made_into_an_answer_is_tampered(store):
    context = HybridSecondBrain(store).context("zebra")
    context["ready"] = True
    assert findings(context, store) == ("TAMPERED", ["state"])
    context["ready"], context["state"] = False, "GROUNDED_HANDLES_READY"
    assert findings(context, store) == ("TAMPERED", ["state"])


def test_a_receipt_of_another_generation_than_its_context_is_tampered(store, context):
    context["ranking_receipt"]["generation_sha256"] = "0" * 64
    assert findings(context, store) == ("TAMPERED", ["generation_sha256"])


def test_another_generation_than_the_open_one_is_stale(store, context, make_store):
    other = make_store([*ROWS, row("new:1", "A later note.")])
    assert findings(context, other) == ("STALE", ["generation_sha256"])
    result = verify_receipt(context, store=other)
    assert result["generation_sha256"] == other.snapshot().generation_sha256


def test_a_stale_and_tampered_context_is_tampered(context, make_store):
    context["handles"][0]["note"] = "x"
    assert findings(context, make_store([row("n:1", "x")])) == ("TAMPERED", ["handles_sha256"])


def test_a_verification_says_what_it_does_not_prove(store, context):
    result = verify_receipt(context, store=store)
    assert len(result["not_proven"]) == 3
    assert (result["schema"], result["subject"]) == ("szl.second-brain.verification/v1", "RECEIPT")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=9), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(payload=JSON)
def test_arbitrary_json_is_refused_by_name(store, payload):
    with pytest.raises(RetrievalBoundaryError):
        verify_receipt(payload, store=store)


def paths(value, path=()):
    yield path
    for key, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from paths(inner, (*path, key))


def put(payload, path, value):
    for key in path[:-1]:
        payload = payload[key]
    payload[path[-1]] = value


@pytest.fixture(scope="module")
def genuine(store):
    return json.loads(json.dumps(HybridSecondBrain(store).context("receipt chain")))


@given(data=st.data(), value=JSON | st.just(10**5000) | st.just("\ud800"))
@settings(max_examples=300)
def test_a_context_with_anything_put_anywhere_never_raises_outside_our_errors(store, genuine, data, value):
    payload = copy.deepcopy(genuine)
    path = data.draw(st.sampled_from([path for path in paths(genuine) if path]))
    put(payload, path, value)
    try:
        state = verify_receipt(payload, store=store)["state"]
    except SecondBrainError:
        return
    assert state in ("VERIFIED", "STALE", "TAMPERED")
    if payload != genuine and path[0] in ("handles", "evidence", "evidence_set_sha256", "handles_sha256"):
        assert state == "TAMPERED"


def test_a_payload_nested_without_end_is_refused(store, context):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    context["handles"][0]["deep"] = deep
    assert findings(context, store)[0] == "TAMPERED"
    context["handles"] = deep
    with pytest.raises(RetrievalBoundaryError):
        verify_receipt(context, store=store)
