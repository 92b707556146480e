"""Why a node stands where it stands, or why it does not: each outcome on a case of its own."""

import pytest
from conftest import row
from simulated_providers import FixedDense, FixedReranker, hit

from secondbrain import HybridSecondBrain, RetrievalBoundaryError, StoreIntegrityError, explain

ROWS = [
    *(row(f"one:{at}", f"ledger entry {'ledger ' * (6 - at)}", source="one") for at in range(5)),
    row("two:1", "a ledger among many other words of another kind", source="two"),
    row("three:1", "nothing of it", source="three"),
]


@pytest.fixture
def brain(make_store):
    return HybridSecondBrain(make_store(ROWS))


def test_a_selected_node(brain):
    explanation = explain("ledger", "one:0", brain=brain)
    assert (explanation["outcome"], explanation["rank"], explanation["sparse_rank"]) == ("SELECTED", 1, 1)
    assert explanation["handle"] == brain.context("ledger")["handles"][0]
    assert explanation["terms"] == [
        {"start": 0, "end": 6, "idf": pytest.approx(explanation["terms"][0]["idf"]), "held": True}
    ]
    assert (explanation["coverage"], explanation["mode"]) == (1.0, "BM25_ONLY")
    assert (explanation["dense_rank"], explanation["dense_score"], explanation["reranker_score"]) == (
        None,
    ) * 3


def test_a_node_behind_the_last_place(brain):
    explanation = explain("ledger", "two:1", k=2, brain=brain)
    assert (explanation["outcome"], explanation["rank"], explanation["fused_rank"]) == ("BELOW_K", None, 6)


def test_a_node_that_its_source_keeps_out(brain):
    explanation = explain("ledger", "one:4", brain=brain)
    assert (explanation["outcome"], explanation["nodes_of_same_source_above"]) == ("SOURCE_LIMIT_REACHED", 4)
    assert explanation["per_source_limit"] == 3
    # Also where the answer is full, but a later node of another source took the place.
    explanation = explain("ledger", "one:3", k=4, brain=brain)
    assert explanation["outcome"] == "SOURCE_LIMIT_REACHED"


def test_a_candidate_of_an_answer_that_is_not_grounded(brain):
    explanation = explain("ledger giraffes trampolines", "one:0", brain=brain)
    assert (explanation["outcome"], explanation["fused_rank"]) == ("ABSTAINED", 1)
    assert explanation["abstention"]["grounded_by"] == "NOTHING"
    assert [term["held"] for term in explanation["terms"]] == [True, False, False]


def test_a_node_that_holds_nothing_of_the_query(brain):
    explanation = explain("ledger", "three:1", brain=brain)
    assert explanation["outcome"] == "NOT_A_CANDIDATE"
    assert (explanation["sparse_score"], explanation["fused_score"], explanation["coverage"]) == (
        None,
        None,
        0.0,
    )


def test_a_query_without_a_word_makes_no_candidate(brain):
    explanation = explain("🧠", "one:0", brain=brain)
    assert (explanation["outcome"], explanation["mode"], explanation["terms"]) == (
        "NOT_A_CANDIDATE",
        "NOT_RUN",
        [],
    )


def test_scores_of_providers_are_named(make_store):
    store = make_store(ROWS)
    dense = FixedDense(store, [hit(store, "three:1", 0.7)])
    brain = HybridSecondBrain(store, dense_provider=dense, reranker=FixedReranker({"three:1": 5}))
    explanation = explain("ledger", "three:1", brain=brain)
    assert (explanation["outcome"], explanation["rank"]) == ("SELECTED", 1)
    assert (explanation["dense_rank"], explanation["dense_score"]) == (1, 0.7)
    assert (explanation["reranker_score"], explanation["mode"]) == (5.0, "HYBRID_SPARSE_DENSE+RERANKER")


@pytest.mark.parametrize("query", ["ledger", "ledger entry many", "kind of words", "zebra ledger"])
@pytest.mark.parametrize("k", [1, 3, 6, 12])
def test_an_explanation_agrees_with_the_context(brain, query, k):
    context = brain.context(query, k)
    places = {node["node_id"]: node for node in context["ranking_receipt"]["selected"]}
    for one in ROWS:
        explanation = explain(query, one["id"], k, brain=brain)
        assert (explanation["outcome"] == "SELECTED") == (one["id"] in places)
        if one["id"] in places:
            node = places[one["id"]]
            for key in ("rank", "sparse_rank", "sparse_score", "fused_score", "coverage"):
                assert explanation[key] == node[key]


@pytest.mark.parametrize("node_id", ["absent", "", "\ud800", "n" * 600, 7, None, b"one:0"], ids=ascii)
def test_a_node_that_the_corpus_lacks_is_refused(brain, node_id):
    with pytest.raises(RetrievalBoundaryError, match="node_id"):
        explain("ledger", node_id, brain=brain)


def test_a_blank_query_and_a_wrong_k_are_refused(brain):
    with pytest.raises(RetrievalBoundaryError, match="blank"):
        explain(" ", "one:0", brain=brain)
    with pytest.raises(RetrievalBoundaryError, match="k is"):
        explain("ledger", "one:0", 13, brain=brain)


def test_a_store_that_fails_is_no_explanation(brain):
    brain.store.path.unlink()
    with pytest.raises(StoreIntegrityError):
        explain("ledger", "one:0", brain=brain)
