"""The frontier: everything waits for review, and three statuses stay three."""

import re
from pathlib import Path

import pytest
from conftest import ROOT, ROWS, write_projection
from page_client import client

from secondbrain import Store, wire
from secondbrain.retrieval.frontier import frontier_handles
from secondbrain.space.page import frontier as view
from secondbrain.store.build import build

SET = ROOT / "frontier"


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store of the small projection and the committed candidate set."""
    folder: Path = tmp_path_factory.mktemp("frontier")
    built = build(write_projection(folder / "projection.jsonl", ROWS), folder / "store.db", frontier=SET)
    return Store(built.path)


def column(page: str, name: str) -> str:
    found = re.search(rf'<section class="column {name}".*?</section>', page, re.S)
    assert found is not None
    return found[0]


def test_counts_by_source_kind_and_quant_domain_are_those_of_the_state(reviewed: Store) -> None:
    shown = view.frontier(reviewed, {}, None)
    assert isinstance(shown, view.Frontier)
    assert {bar.name: bar.count for bar in shown.by_kind} == shown.state["source_kind_counts"]
    assert {bar.name: bar.count for bar in shown.by_quant_domain} == shown.state["quant_domain_counts"]
    assert sum(bar.count for bar in shown.by_source) == shown.state["candidate_count"]
    assert shown.shown == shown.state["candidate_count"]


def test_every_candidate_and_every_source_is_marked_for_review(reviewed: Store) -> None:
    page = client(reviewed).get("/frontier").text
    state = view.frontier(reviewed, {}, None)
    assert isinstance(state, view.Frontier)
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", page, re.S)
    data = [one for one in rows if "digest" in one]
    assert len(data) == state.state["candidate_count"] + state.state["source_count"]
    assert all("review required" in one for one in data)


def test_the_three_statuses_stand_apart_and_share_nothing(reviewed: Store) -> None:
    page = client(reviewed).get("/frontier").text
    handles = list(frontier_handles(reviewed.reader()).values())
    proof = {str(one["proofStatus"]) for one in handles if "proofStatus" in one}
    assert len(re.findall(r"<summary><code>", column(page, "proof"))) == len(proof)
    locked = column(page, "locked")
    assert re.findall(r"<li>(F\d+)</li>", locked) == list(wire.LOCKED_PROVEN)
    assert "PROVEN(" not in locked
    assert "UNKNOWN_NOT_INFERRED" in locked
    assert not re.search(r"<li>F\d+</li>", column(page, "proof") + column(page, "reported"))


def test_source_revisions_are_shown_with_their_digests(reviewed: Store) -> None:
    page = client(reviewed).get("/frontier").text
    shown = view.frontier(reviewed, {}, None)
    assert isinstance(shown, view.Frontier)
    for source in shown.state["sources"]:
        assert f'data-copy="{source["revision"]}"' in page
        assert f'data-copy="{source["content_sha256"]}"' in page


def test_a_filter_narrows_and_the_same_link_widens_again(reviewed: Store) -> None:
    page = client(reviewed).get("/frontier?kind=executable-formula").text
    assert "executable formula" in page
    assert 'href="/frontier"' in page
    shown = view.frontier(reviewed, {"kind": "executable-formula"}, None)
    assert isinstance(shown, view.Frontier)
    assert [kind.name for kind in shown.kinds] == ["executable-formula"]


def test_filters_by_source_and_domain_agree_with_the_counts(reviewed: Store) -> None:
    whole = view.frontier(reviewed, {}, None)
    assert isinstance(whole, view.Frontier)
    for name, bars in (("source_id", whole.by_source), ("quant_domain", whole.by_quant_domain)):
        for bar in bars:
            narrowed = view.frontier(reviewed, {name: bar.name}, None)
            assert isinstance(narrowed, view.Frontier)
            assert narrowed.shown == bar.count


@pytest.mark.parametrize("address", ["/frontier?kind=nonsense", "/frontier?q=entropy&kind=nonsense"])
def test_an_unknown_filter_is_refused(reviewed: Store, address: str) -> None:
    assert client(reviewed).get(address).status_code == 422


def test_words_find_candidates_and_keep_the_filters(reviewed: Store) -> None:
    page = client(reviewed).get("/frontier?q=entropy&kind=attributed-formula").text
    assert '<input type="hidden" name="kind" value="attributed-formula">' in page
    assert "the best for" in page
    assert "No candidate holds these words" in client(reviewed).get("/frontier?q=croissant").text


def test_a_database_without_a_set_shows_none(store: Store) -> None:
    page = client(store).get("/frontier")
    assert page.status_code == 503
    assert "FrontierIntegrityError" in page.text


def test_the_boundary_shows_live_counts_and_the_last_runs_digests(reviewed: Store) -> None:
    page = client(reviewed).get("/boundary").text
    shown = view.frontier(reviewed, {}, None)
    assert isinstance(shown, view.Frontier)
    assert shown.state["state_sha256"] in page
    assert shown.state["candidate_set_sha256"] in page
    assert reviewed.snapshot().generation_sha256 in page
    assert f"<dd>{len(ROWS)}</dd>" in page
    assert "<dd>0</dd>" in page
    assert "9,464" in page


def test_the_boundary_names_every_state_and_mode(store: Store) -> None:
    page = client(store).get("/boundary").text
    for name in (
        "GROUNDED_HANDLES_READY",
        "ABSTAIN_NO_QUERY",
        "UNAVAILABLE",
        "BM25_ONLY",
        "HYBRID_SPARSE_DENSE",
    ):
        assert f"<code>{name}</code>" in page
    assert page.count("can occur") == 2
    assert "No frontier set is open" in page


def test_no_page_holds_a_run_of_stored_text(reviewed: Store) -> None:
    run = 40
    texts = [one["text"] for one in ROWS]
    texts += [
        content for _, content in reviewed.reader().rows("read/contents_of_candidates", (_ids(reviewed),))
    ]
    allowed = str(list(frontier_handles(reviewed.reader()).values()))  # titles and status strings are handles
    web = client(reviewed)
    pages = [
        web.get(path).text for path in ("/", "/?q=receipt+chain+ledger+lambda", "/map?q=chain", "/map.svg")
    ]
    pages += [web.get(path).text for path in ("/frontier", "/frontier?q=formula+entropy", "/boundary")]
    shown = "\n".join(pages)
    for text in texts:
        for at in range(0, len(text) - run + 1):
            piece = text[at : at + run]
            assert piece not in shown or piece in allowed, piece


def _ids(store: Store) -> str:
    return '["' + '","'.join(one["nodeId"] for one in frontier_handles(store.reader()).values()) + '"]'
