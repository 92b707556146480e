"""Sources, k, and a store that fails: what narrows an answer, what is refused, what is UNAVAILABLE."""

import pytest
from conftest import ROWS, row
from simulated_providers import FixedDense, FixedReranker, hit

from secondbrain import (
    GroundingRule,
    HybridSecondBrain,
    RetrievalBoundaryError,
    Store,
    StoreIntegrityError,
    index,
    navigator_context,
    retrieve,
    status,
)
from secondbrain.digests import canonical_sha256

OFF = GroundingRule(0, 0, 0)


def ids(payload):
    return [handle["nodeId"] for handle in payload["handles"]]


def test_sources_keep_chunks_of_these_sources_and_no_other(store):
    brain = HybridSecondBrain(store)
    assert ids(brain.context("receipt chain")) == ["doc:a:0001", "note:1"]
    assert ids(brain.context("receipt chain", sources=["note"])) == ["note:1"]
    assert ids(brain.context("receipt chain", sources=("doc", "note", "doc"))) == ["doc:a:0001", "note:1"]
    assert brain.context("receipt chain", sources=["note", "doc"])["ranking_receipt"]["sources"] == [
        "doc",
        "note",
    ]
    assert brain.context("receipt chain")["ranking_receipt"]["sources"] is None
    assert ids(retrieve("receipt chain", sources=["doc"], store=store)) == ["doc:a:0001"]


def test_sources_hold_for_the_dense_leg_too(store):
    provider = FixedDense(store, [hit(store, "note:2", 0.9), hit(store, "doc:b:0001", 0.8)])
    brain = HybridSecondBrain(store, dense_provider=provider)
    assert ids(brain.context("receipt chain", sources=["doc"])) == ["doc:a:0001", "doc:b:0001"]


@pytest.mark.parametrize(
    "sources", [[], "doc", ["absent"], ["doc", 7], ["\ud800"], {"doc"}, 7, b"doc"], ids=ascii
)
def test_sources_that_cannot_be_followed_are_refused(store, sources):
    with pytest.raises(RetrievalBoundaryError, match="sources"):
        HybridSecondBrain(store).context("receipt", sources=sources)
    with pytest.raises(RetrievalBoundaryError, match="sources"):
        retrieve("receipt", sources=sources, store=store)


@pytest.mark.parametrize("k", [0, 13, -1, True, 6.0, "6", None])
def test_k_is_a_whole_number_from_1_to_12(store, k):
    for ask in (HybridSecondBrain(store).context, lambda query, k: retrieve(query, k, store=store)):
        with pytest.raises(RetrievalBoundaryError, match="k is no whole number from 1 to 12"):
            ask("receipt", k)


def test_fewer_handles_rather_than_more_of_one_source(make_store):
    store = make_store([row(f"n:{at}", f"ledger {at}", source="one") for at in range(9)])
    assert len(HybridSecondBrain(store).context("ledger", k=12)["handles"]) == 3
    assert len(HybridSecondBrain(store, per_source_limit=0).context("ledger", k=12)["handles"]) == 9
    assert len(retrieve("ledger", 12, store=store)["handles"]) == 9


def test_a_note_is_the_title_cut_to_160_characters(make_store):
    store = make_store([row("n:1", "ledger", title="é" * 200)])
    assert HybridSecondBrain(store).context("ledger")["handles"][0]["note"] == "é" * 160


def test_a_row_without_a_source_id_has_an_empty_one(make_store):
    without = row("n:1", "ledger")
    del without["sourceId"]
    assert HybridSecondBrain(make_store([without])).context("ledger")["handles"][0]["sourceId"] == ""


def test_retrieve_gives_scores_best_first(store):
    found = retrieve("receipt chain", store=store)
    assert found["state"] == "GROUNDED_HANDLES_READY"
    assert found["scores"] == sorted(found["scores"])
    assert len(found["scores"]) == len(found["handles"]) == 2
    assert retrieve("  ", store=store)["state"] == "ABSTAIN_NO_QUERY"
    assert retrieve("zebra", store=store)["state"] == "ABSTAIN_NO_GROUNDED_HANDLES"


def test_a_navigator_context_is_a_context_without_its_receipt(store):
    context, navigator = (
        HybridSecondBrain(store).context("receipt"),
        navigator_context("receipt", store=store),
    )
    assert "ranking_receipt" not in navigator
    shared = set(context) & set(navigator) - {"schema"}
    assert {key: navigator[key] for key in shared} == {key: context[key] for key in shared}
    assert navigator["grounded_count"] == len(navigator["handles"])
    assert navigator["handle_evidence_set_equivalent"] is True


def damage(store):
    content = bytearray(store.path.read_bytes())
    content[len(content) // 2] ^= 1
    store.path.write_bytes(content)


def test_a_store_that_fails_its_check_gives_unavailable_and_no_handle(store):
    damage(store)
    brain = HybridSecondBrain(
        store,
        dense_provider=FixedDense(Store(store.path), binding=binding_of_nothing()),
        reranker=FixedReranker(),
    )
    context = brain.context("receipt")
    assert (context["state"], context["ready"], context["error_type"]) == (
        "UNAVAILABLE",
        False,
        "StoreIntegrityError",
    )
    assert (context["handles"], context["evidence"], context["corpus_n"]) == ([], [], 0)
    assert context["evidence_set_sha256"] == context["handles_sha256"] == canonical_sha256([])
    assert context["generation_sha256"] is None
    receipt = context["ranking_receipt"]
    assert receipt["mode"] == "NOT_RUN"
    for part in ("sparse", "dense", "reranker"):
        assert (receipt[part], receipt[f"{part}_reason"]) == ("NOT_RUN", "STORE_UNAVAILABLE")
    assert retrieve("receipt", store=store)["state"] == "UNAVAILABLE"
    navigator = navigator_context("receipt", store=store)
    assert (navigator["state"], navigator["error_type"]) == ("UNAVAILABLE", "StoreIntegrityError")
    assert (index(store=store)["ready"], index(store=store)["error_type"]) == (False, "StoreIntegrityError")
    assert (status(store=store)["state"], status(store=store)["integrity"]) == ("UNAVAILABLE", "NOT_CHECKED")


def binding_of_nothing():
    from secondbrain import DenseBinding

    return DenseBinding("m", "a" * 40, 3, "0" * 64)


def test_a_store_that_goes_and_comes_back_is_unavailable_in_between(store):
    brain = HybridSecondBrain(store)
    before = brain.context("receipt")
    kept = store.path.rename(store.path.with_suffix(".kept"))
    assert brain.context("receipt")["state"] == "UNAVAILABLE"
    kept.rename(store.path)
    assert brain.context("receipt") == before


def test_a_wrong_query_is_refused_also_where_the_store_is_unavailable(store):
    damage(store)
    with pytest.raises(RetrievalBoundaryError):
        HybridSecondBrain(store).context("\ud800")


@pytest.mark.parametrize(
    "ask", [lambda: retrieve("receipt"), lambda: navigator_context("receipt"), index, status]
)
def test_an_operators_projection_that_cannot_be_followed_stops_every_call(store, monkeypatch, ask):
    monkeypatch.setenv("SECOND_BRAIN_CORPUS", str(store.path))
    monkeypatch.setenv("SECOND_BRAIN_CORPUS_SHA256", "0" * 64)
    with pytest.raises(StoreIntegrityError, match="SECOND_BRAIN_CORPUS="):
        ask()


def test_index_and_status_say_what_is_open(store):
    counts = index(store=store)
    assert (counts["corpus_n"], counts["sources"]) == (len(ROWS), {"doc": 4, "note": 2})
    said = status(store=store)
    assert (said["state"], said["integrity"], said["corpus_n"]) == ("READY", "FILE_DIGEST_MATCHED", len(ROWS))
    assert said["generation_sha256"] == counts["generation_sha256"] == store.snapshot().generation_sha256
    assert (said["private_graph_nodes_declared"], said["private_graph_nodes_loaded"]) == (9464, 0)
    assert said["lambda_status"] == "CONJECTURE_1"
    assert said["locked_proven"] == ["F1", "F4", "F7", "F11", "F12", "F18", "F19", "F22"]
