"""Every mode of a ranking, and that a mode names only what took part."""

import pytest
from simulated_providers import FixedDense, FixedReranker, hit

from secondbrain import HybridSecondBrain, ProviderUnavailable, retrieval_capabilities

QUERY = "receipt chain"
NOTHING_HELD = "zebra crossing"


def outage(*given):
    raise ProviderUnavailable("the model server is down")


def dense(store, **options):
    return FixedDense(store, [hit(store, "note:1", 0.9), hit(store, "doc:b:0001", 0.8)], **options)


def lost(store):
    return dense(store, before=outage)


def reranker(store):
    return FixedReranker({"note:1": 1.0})


def lost_reranker(store):
    return FixedReranker(before=outage)


# mode: query, dense provider, reranker, and the states of sparse, dense and reranker in the receipt
OCCASIONS = {
    "blank": (" \t", dense, reranker, "NOT_RUN", ("NOT_RUN", "NOT_RUN", "NOT_RUN"), "NO_QUERY"),
    "no word": ("🧠", dense, reranker, "NOT_RUN", ("NOT_RUN", "NOT_RUN", "NOT_RUN"), "NO_TERMS"),
    "no word, bm25": (
        "🧠",
        None,
        None,
        "NOT_RUN",
        ("NOT_RUN", "NOT_CONFIGURED", "NOT_CONFIGURED"),
        "NO_TERMS",
    ),
    "bm25": (QUERY, None, None, "BM25_ONLY", ("OK", "NOT_CONFIGURED", "NOT_CONFIGURED"), None),
    "hybrid": (QUERY, dense, None, "HYBRID_SPARSE_DENSE", ("OK", "OK", "NOT_CONFIGURED"), None),
    "fallback": (
        QUERY,
        lost,
        None,
        "BM25_FALLBACK_DENSE_UNAVAILABLE",
        ("OK", "UNAVAILABLE", "NOT_CONFIGURED"),
        None,
    ),
    "bm25 reranked": (QUERY, None, reranker, "BM25_ONLY+RERANKER", ("OK", "NOT_CONFIGURED", "OK"), None),
    "bm25, reranker lost": (
        QUERY,
        None,
        lost_reranker,
        "BM25_ONLY+RERANKER_UNAVAILABLE",
        ("OK", "NOT_CONFIGURED", "UNAVAILABLE"),
        None,
    ),
    "hybrid reranked": (QUERY, dense, reranker, "HYBRID_SPARSE_DENSE+RERANKER", ("OK", "OK", "OK"), None),
    "hybrid, reranker lost": (
        QUERY,
        dense,
        lost_reranker,
        "HYBRID_SPARSE_DENSE+RERANKER_UNAVAILABLE",
        ("OK", "OK", "UNAVAILABLE"),
        None,
    ),
    "fallback reranked": (
        QUERY,
        lost,
        reranker,
        "BM25_FALLBACK_DENSE_UNAVAILABLE+RERANKER",
        ("OK", "UNAVAILABLE", "OK"),
        None,
    ),
    "both lost": (
        QUERY,
        lost,
        lost_reranker,
        "BM25_FALLBACK_DENSE_UNAVAILABLE+RERANKER_UNAVAILABLE",
        ("OK", "UNAVAILABLE", "UNAVAILABLE"),
        None,
    ),
    "nothing to rerank": (
        NOTHING_HELD,
        None,
        reranker,
        "BM25_ONLY",
        ("OK", "NOT_CONFIGURED", "NOT_RUN"),
        None,
    ),
}


@pytest.mark.parametrize("occasion", OCCASIONS)
def test_a_mode_names_what_took_part_and_nothing_else(store, occasion):
    query, dense_of, reranker_of, mode, states, reason = OCCASIONS[occasion]
    provider = dense_of(store) if dense_of else None
    cross_encoder = reranker_of(store) if reranker_of else None
    brain = HybridSecondBrain(store, dense_provider=provider, reranker=cross_encoder)
    receipt = brain.context(query)["ranking_receipt"]
    assert receipt["mode"] == mode
    assert (receipt["sparse"], receipt["dense"], receipt["reranker"]) == states
    assert receipt["sparse_reason"] == reason
    assert mode in retrieval_capabilities(brain)["modes"]
    if states[1] == "NOT_RUN":
        assert provider.asked == []
    if states[2] == "NOT_RUN" and cross_encoder:
        assert cross_encoder.given == []
    assert (receipt["dense_binding"] is None) == (states[1] != "OK")
    assert (receipt["reranker_binding"] is None) == (states[2] != "OK")


def test_every_mode_of_the_design_has_its_occasion():
    endings = ("", "+RERANKER", "+RERANKER_UNAVAILABLE")
    bases = ("BM25_ONLY", "HYBRID_SPARSE_DENSE", "BM25_FALLBACK_DENSE_UNAVAILABLE")
    assert {occasion[3] for occasion in OCCASIONS.values()} == {
        "NOT_RUN",
        *(base + ending for base in bases for ending in endings),
    }


def test_capabilities_name_no_mode_that_a_coordinator_rules_out(store):
    brain = HybridSecondBrain(
        store,
        dense_provider=dense(store),
        reranker=reranker(store),
        allow_sparse_fallback=False,
        allow_reranker_fallback=False,
    )
    capabilities = retrieval_capabilities(brain)
    assert capabilities["modes"] == ["NOT_RUN", "HYBRID_SPARSE_DENSE", "HYBRID_SPARSE_DENSE+RERANKER"]
    assert capabilities["dense"]["revision"] == "a" * 40
    assert capabilities["reranker"] == {"model": "test-cross-encoder", "revision": "a" * 40}
    assert retrieval_capabilities(HybridSecondBrain(store))["modes"] == ["NOT_RUN", "BM25_ONLY"]


def test_an_outage_without_a_fallback_is_raised(store):
    with pytest.raises(ProviderUnavailable):
        HybridSecondBrain(store, dense_provider=lost(store), allow_sparse_fallback=False).context(QUERY)
    with pytest.raises(ProviderUnavailable):
        HybridSecondBrain(store, reranker=lost_reranker(store), allow_reranker_fallback=False).context(QUERY)


def test_a_fallback_gives_what_bm25_alone_gives(store):
    alone = HybridSecondBrain(store).context(QUERY)
    fallback = HybridSecondBrain(store, dense_provider=lost(store)).context(QUERY)
    assert fallback["handles"] == alone["handles"]
    assert fallback["ranking_receipt"]["dense_reason"] == "PROVIDER_UNAVAILABLE"


def test_a_receipt_gives_ranks_and_scores_of_each_component(store):
    brain = HybridSecondBrain(store, dense_provider=dense(store), reranker=FixedReranker({"doc:b:0001": 2.0}))
    receipt = brain.context(QUERY)["ranking_receipt"]
    by_dense_alone = receipt["selected"][0]
    assert by_dense_alone["node_id"] == "doc:b:0001"
    assert (by_dense_alone["sparse_rank"], by_dense_alone["sparse_score"]) == (None, None)
    assert (by_dense_alone["dense_rank"], by_dense_alone["dense_score"]) == (2, 0.8)
    assert (by_dense_alone["reranker_rank"], by_dense_alone["reranker_score"]) == (1, 2.0)
    assert by_dense_alone["fused_score"] == 1 / 62
    assert receipt["dense_binding"] == {
        "model": "test-embedding",
        "revision": "a" * 40,
        "dimensions": 3,
        "generation_sha256": store.snapshot().generation_sha256,
        "grounding_floor": None,
    }
    assert receipt["candidates"] == {"sparse": 2, "dense": 2, "fused": 3, "selected": 3}
