"""The Ask view: what a person is shown of a context, and how errors become sentences."""

import html
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from conftest import ROWS, row
from page_client import client
from simulated_providers import FixedDense, FixedReranker, hit

from secondbrain import HybridSecondBrain, ProviderUnavailable, Store, errors
from secondbrain.retrieval.verification import verify_receipt
from secondbrain.space.page import ask, meanings
from secondbrain.space.page.faults import fault


def receipt_of(page: str) -> dict[str, Any]:
    found = re.search(r'<pre id="receipt-json"[^>]*>(.*?)</pre>', page, re.S)
    assert found is not None
    receipt: dict[str, Any] = json.loads(html.unescape(found[1]))
    return receipt


def test_the_start_page_says_what_is_held_and_offers_examples(store: Store) -> None:
    page = client(store).get("/")
    assert page.status_code == 200
    assert f"<strong>{len(ROWS)}</strong> chunks" in page.text
    assert page.text.count('href="/?q=') >= len(ask.EXAMPLES)


def test_a_question_gives_cards_in_the_order_of_the_context(store: Store) -> None:
    brain = HybridSecondBrain(store)
    page = client(brain).get("/", params={"q": "receipt chain", "k": "3"}).text
    titles = re.findall(r'<h2 id="card-\d+">(.*?)</h2>', page)
    assert titles == [handle["note"] for handle in brain.context("receipt chain", 3)["handles"]]


def test_a_card_says_which_of_the_persons_own_words_it_holds(store: Store) -> None:
    page = client(store).get("/", params={"q": "Receipts of the ledger"}).text
    assert '<li class="held"><span class="unseen">holds </span>Receipts</li>' in page
    assert '<li class="lacking"><span class="unseen">lacks </span>ledger</li>' in page
    assert ">of</li>" not in page


def test_the_receipt_in_the_page_is_the_context_and_verifies(store: Store) -> None:
    brain = HybridSecondBrain(store)
    receipt = receipt_of(client(brain).get("/", params={"q": "Λ uniqueness"}).text)
    assert receipt == brain.context("Λ uniqueness")
    assert verify_receipt(receipt, store=store)["state"] == "VERIFIED"


def test_an_alias_that_took_part_is_named(store: Store) -> None:
    page = client(store).get("/", params={"q": "lambda uniqueness"}).text
    assert "Read as one word: <strong>Λ = lambda</strong>" in page or "<strong>lambda = Λ</strong>" in page


def test_an_abstention_is_a_decision_with_the_numbers_of_its_rule(store: Store) -> None:
    page = client(store).get("/", params={"q": "ledger croissant recipe Paris"})
    assert page.status_code == 200
    assert "The brain abstains" in page.text
    assert "24\u202f%" in page.text
    assert "1 of 4" in page.text
    assert "not met" in page.text
    assert page.text.count("in no chunk") == 3


def test_an_abstention_without_any_candidate_says_so(store: Store) -> None:
    page = client(store).get("/", params={"q": "croissant"}).text
    assert "Nothing stored holds any counted word" in page
    assert "does not apply" in page


def test_a_blank_question_is_no_question(store: Store) -> None:
    page = client(store).get("/", params={"q": " "})
    assert page.status_code == 200
    assert "Nothing was asked" in page.text
    assert meanings.mode("NOT_RUN").name == receipt_of(page.text)["ranking_receipt"]["mode"]


def test_two_components_share_a_bar_and_the_mode_names_both(store: Store) -> None:
    dense = FixedDense(store, [hit(store, "note:1", 0.9), hit(store, "doc:a:0001", 0.8)])
    reranker = FixedReranker({"note:1": 2.0})
    page = client(HybridSecondBrain(store, dense_provider=dense, reranker=reranker)).get(
        "/", params={"q": "receipt"}
    )
    assert "HYBRID_SPARSE_DENSE+RERANKER" in page.text
    assert 'class="bar-sparse"' in page.text
    assert 'class="bar-dense"' in page.text
    assert "reranker, rank 1" in page.text


def test_the_parts_of_a_bar_are_what_the_legs_gave(store: Store) -> None:
    dense = FixedDense(store, [hit(store, "note:1", 0.9)])
    brain = HybridSecondBrain(store, dense_provider=dense)
    for card in ask.answer(brain, "receipt chain", 6).cards:
        assert sum(leg.given for leg in card.legs) == pytest.approx(card.fused_score)
        assert 0 < sum(part.length for part in card.shares) <= 100.0001


def test_a_page_escapes_what_a_person_typed(store: Store) -> None:
    page = client(store).get("/", params={"q": 'receipt "><script>alert(1)</script>'}).text
    assert "<script>alert" not in page


def test_a_page_escapes_what_is_stored(make_store: Callable[..., Store]) -> None:
    stored = make_store([row("x:1", "A bold claim.", title="<b>Claim</b> & more", source="x")])
    page = client(stored).get("/", params={"q": "claim"}).text
    assert "&lt;b&gt;Claim&lt;/b&gt; &amp; more" in page


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("/?q=" + "a" * 2001, "q is longer than 2000 characters"),
        ("/?q=a&k=0", "k is not a whole number from 1 to 12"),
        ("/?q=a&k=13", "k is not a whole number from 1 to 12"),
        ("/?q=a&k=x", "k is not a whole number from 1 to 12"),
        ("/?q=a&k=9999999", "k is not a whole number from 1 to 12"),
        ("/?q=a&q=b", "q stands twice"),
        ("/?query=a", "query is not known here"),
        ("/?q=%FF", "percent-encoded UTF-8"),
        ("/?q=%ED%A0%80", "percent-encoded UTF-8"),
        ("/?" + "&".join(f"a{n}=" for n in range(70)), "up to 64 pairs"),
        ("/boundary?q=a", "q is not known here"),
        ("/map?k=3", "k is not known here"),
    ],
)
def test_a_callers_error_is_a_sentence_with_status_422(store: Store, address: str, sentence: str) -> None:
    page = client(store).get(address)
    assert page.status_code == 422
    assert page.headers["content-type"].startswith("text/html")
    assert sentence in html.unescape(page.text)


def test_a_store_that_fails_its_check_is_named_unavailable_and_nothing_else(store: Store) -> None:
    store.path.write_bytes(b"damaged" * 1000)
    for address in ("/", "/?q=receipt", "/map", "/frontier", "/boundary"):
        page = client(store).get(address)
        assert page.status_code == (200 if address in ("/", "/boundary") else 503)
        assert "StoreIntegrityError" in page.text
        assert str(store.path) not in page.text


def test_a_provider_that_misbehaves_blocks_and_is_named_by_its_type(store: Store) -> None:
    dense = FixedDense(store, [hit(store, "note:1", float("nan"))])
    page = client(HybridSecondBrain(store, dense_provider=dense)).get("/", params={"q": "receipt"})
    assert page.status_code == 502
    assert "ProviderBoundaryError" in page.text


def test_a_provider_out_of_reach_blocks_where_no_fallback_is_allowed(store: Store) -> None:
    def out(_: FixedDense) -> None:
        raise ProviderUnavailable("host db-7 is down")

    brain = HybridSecondBrain(
        store, dense_provider=FixedDense(store, before=out), allow_sparse_fallback=False
    )
    page = client(brain).get("/", params={"q": "receipt"})
    assert page.status_code == 503
    assert "db-7" not in page.text


@pytest.mark.parametrize(
    ("error", "status"),
    [(errors.DeadlineExceeded("detail"), 503), (errors.ConfigurationError("detail"), 500)],
)
def test_other_errors_have_their_status_and_no_detail(error: errors.SecondBrainError, status: int) -> None:
    found = fault(error)
    assert found.status == status
    assert "detail" not in found.sentence


def test_a_page_is_not_kept_without_asking_again(store: Store) -> None:
    assert client(store).get("/").headers["cache-control"] == "no-cache"


def test_every_mode_and_state_has_a_meaning() -> None:
    for name in ("NOT_RUN", "BM25_ONLY+RERANKER", "BM25_FALLBACK_DENSE_UNAVAILABLE+RERANKER_UNAVAILABLE"):
        assert meanings.mode(name).meaning
