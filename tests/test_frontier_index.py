"""The frontier in the database: handles for reviewers, content for authorised ones, promotion for nobody."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, json_lines
from hypothesis import given
from hypothesis import strategies as st

from secondbrain import (
    AuthorizedFrontierHydrator,
    CorpusIntegrityError,
    FrontierIntegrityError,
    HybridSecondBrain,
    HydrationDenied,
    RetrievalBoundaryError,
    Store,
    anatomy_feed,
    frontier_candidate,
    frontier_search,
    frontier_status,
    status,
    wire,
)
from secondbrain.digests import canonical_lines_sha256, canonical_sha256
from secondbrain.store.sidecar import sidecar

FRONTIER = ROOT / "frontier"
CANDIDATES = json_lines(FRONTIER / "candidates.jsonl")
REQUEST = {"principal_id": "reviewer-123", "tenant_id": "tenant-abc", "policy_revision": "sha256:" + "b" * 64}


@pytest.fixture(scope="module")
def frontier_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    from conftest import ROWS, write_projection

    from secondbrain.store.build import build

    folder = tmp_path_factory.mktemp("frontier")
    projection = write_projection(folder / "projection.jsonl", ROWS)
    return Store(build(projection, folder / "frontier.db", frontier=FRONTIER).path)


def damaged(store: Store, folder: Path, statement: str, *, opens: bool = True) -> Store:
    """Return a copy of a store, edited as someone with a database tool could, its sidecar made to match."""
    path = folder / "damaged.db"
    path.write_bytes(store.path.read_bytes())
    connection = sqlite3.connect(path)
    connection.create_function("sha256", 1, lambda text: None)  # the guards' conditions never hold
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.executescript(statement)
    connection.commit()
    connection.close()
    from secondbrain.digests import sha256_file

    sidecar(path).write_text(f"{sha256_file(path)}  {path.name}\n", encoding="ascii")
    return Store(path)


def test_the_stored_set_is_the_committed_one(frontier_store: Store) -> None:
    state = frontier_status(store=frontier_store)
    assert state["ready"] is True
    assert state["state"] == "REVIEW_REQUIRED"
    assert state["candidate_set_sha256"] == canonical_lines_sha256(CANDIDATES)
    assert status(store=frontier_store)["candidate_set_sha256"] == state["candidate_set_sha256"]
    committed = json.loads((FRONTIER / "state.json").read_text(encoding="utf-8"))
    assert state == {**committed, "ready": True}


def test_the_set_holds_what_the_sources_must_give(frontier_store: Store) -> None:
    counts = frontier_status(store=frontier_store)["source_kind_counts"]
    assert counts["attributed-formula"] == 30
    assert counts["executable-formula"] == 21
    assert counts["quant-domain"] == 9
    assert counts["formula-authority"] == counts["estate-authority"] == 1
    assert counts["truth-card"] == 4
    assert counts["estate-surface"] == 7
    assert counts["controller-contract"] == 5
    assert len(frontier_status(store=frontier_store)["sources"]) == 7


def test_a_search_gives_handles_with_their_evidence_digest(frontier_store: Store) -> None:
    found = frontier_search("formula quant anatomy ouroboros", k=12, store=frontier_store)
    assert found["schema"] == wire.FRONTIER_SEARCH
    assert found["state"] == "REVIEW_REQUIRED"
    assert len(found["handles"]) == len(found["scores"]) == 12
    assert found["scores"] == sorted(found["scores"])
    assert found["evidence_set_sha256"] == canonical_sha256(found["handles"])
    for name in ("training", "promotion", "execution", "merge"):
        assert found[f"{name}_authority"] == "NONE"  # type: ignore[literal-required]


def test_no_content_leaves_by_any_face(frontier_store: Store) -> None:
    handles = [
        handle
        for query in ("formula", "anatomy", "lambda", "estate", "kernel", "receipt")
        for handle in frontier_search(query, k=24, store=frontier_store)["handles"]
    ]
    shown = json.dumps(
        [handles, anatomy_feed(24, store=frontier_store), frontier_status(store=frontier_store)]
    )
    for row in CANDIDATES:
        content = str(row["content"])
        own = [str(value) for name, value in row.items() if name != "content"]
        for at in range(max(0, len(content) - 40)):
            run = content[at : at + 40]
            if not any(run in value for value in own):
                assert json.dumps(run)[1:-1] not in shown


@pytest.mark.parametrize(
    ("filters", "key"),
    [({"kind": "executable-formula"}, "kind"), ({"quant_domain": "governance_receipts"}, "quantDomain")],
)
def test_filters_keep_one_value(frontier_store: Store, filters: dict[str, str], key: str) -> None:
    found = frontier_search("formula status lambda receipt domain", k=24, store=frontier_store, **filters)
    assert found["handles"]
    assert {handle[key] for handle in found["handles"]} == set(filters.values())  # type: ignore[literal-required]


def test_a_source_can_be_kept(frontier_store: Store) -> None:
    found = frontier_search("anatomy formula", k=24, source_id="living_anatomy", store=frontier_store)
    assert {handle["repository"] for handle in found["handles"]} == {"szl-holdings/anatomy"}


@pytest.mark.parametrize("filters", [{"kind": "nothing"}, {"source_id": ""}, {"quant_domain": "x"}])
def test_an_unknown_filter_value_is_refused_by_name(frontier_store: Store, filters: dict[str, str]) -> None:
    with pytest.raises(RetrievalBoundaryError, match=next(iter(filters))):
        frontier_search("formula", store=frontier_store, **filters)


@pytest.mark.parametrize("k", [0, 25, True, "3", 2.0])
def test_k_runs_from_1_to_24(frontier_store: Store, k: object) -> None:
    with pytest.raises(RetrievalBoundaryError, match="1 to 24"):
        frontier_search("formula", k=k, store=frontier_store)  # type: ignore[arg-type]
    with pytest.raises(RetrievalBoundaryError, match="1 to 24"):
        anatomy_feed(k, store=frontier_store)  # type: ignore[arg-type]


@given(st.text(max_size=200), st.integers(1, 23))
def test_any_text_is_an_ordinary_query_and_a_shorter_answer_is_the_head_of_a_longer(
    frontier_store: Store, query: str, k: int
) -> None:
    longer = frontier_search(query, k=24, store=frontier_store)
    assert longer["state"] == "REVIEW_REQUIRED"
    assert frontier_search(query, k=k, store=frontier_store)["handles"] == longer["handles"][:k]


@pytest.mark.parametrize("query", ["", " \t", "🧠", "zebra"])
def test_nothing_to_search_for_gives_no_handles(frontier_store: Store, query: str) -> None:
    found = frontier_search(query, store=frontier_store)
    assert (found["ready"], found["handles"]) == (False, [])


def test_the_feed_is_the_head_of_the_set_in_the_order_of_ids(frontier_store: Store) -> None:
    feed = anatomy_feed(5, store=frontier_store)
    assert feed["purpose"] == "READ_ONLY_LIVING_ANATOMY_OBSERVATION"
    assert [handle["nodeId"] for handle in feed["handles"]] == [row["id"] for row in CANDIDATES[:5]]
    assert feed["candidate_count"] == len(CANDIDATES)


def test_one_candidate_is_found_by_its_id(frontier_store: Store) -> None:
    node_id = str(CANDIDATES[0]["id"])
    found = frontier_candidate(node_id, store=frontier_store)
    assert found is not None
    assert found["nodeId"] == node_id
    assert frontier_candidate("frontier:nothing", store=frontier_store) is None


def test_a_reviewer_gets_the_content_of_exactly_these_handles(frontier_store: Store) -> None:
    review = frontier_search("formula quant anatomy ouroboros", k=12, store=frontier_store)
    asked: list[tuple[str, ...]] = []

    def authorizer(*request: str) -> bool:
        asked.append(request)
        return True

    found = AuthorizedFrontierHydrator(authorizer, store=frontier_store).hydrate(review["handles"], **REQUEST)
    content = {str(row["id"]): row["content"] for row in CANDIDATES}
    assert found["state"] == "AUTHORIZED_REVIEW_CONTENT_READY"
    assert found["evidence_set_sha256"] == review["evidence_set_sha256"]
    assert [one["content"] for one in found["documents"]] == [content[h["nodeId"]] for h in review["handles"]]
    assert {one["authority"] for one in found["documents"]} == {"NONE"}
    assert [request[3:] for request in asked] == [(h["nodeId"], h["repository"]) for h in review["handles"]]


@pytest.mark.parametrize(
    "key", sorted(frontier_handle_keys := ["title", "sha256", "revision", "kind", "admission"])
)
def test_a_handle_that_differs_in_anything_is_denied(frontier_store: Store, key: str) -> None:
    [handle] = frontier_search("entropy", k=1, store=frontier_store)["handles"]
    hydrator = AuthorizedFrontierHydrator(lambda *a: True, store=frontier_store)
    assert hydrator.hydrate([handle], **REQUEST)["ready"]
    changed = {**handle, key: "another"}
    missing = {name: value for name, value in handle.items() if name != key}
    for wrong in (changed, missing, {**handle, "more": 1}):
        with pytest.raises(HydrationDenied):
            hydrator.hydrate([wrong], **REQUEST)


@pytest.mark.parametrize("answer", [False, 1, "yes", None])
def test_only_true_allows_a_reviewer(frontier_store: Store, answer: object) -> None:
    handles = frontier_search("entropy", k=2, store=frontier_store)["handles"]
    with pytest.raises(HydrationDenied):
        AuthorizedFrontierHydrator(lambda *a: answer, store=frontier_store).hydrate(handles, **REQUEST)  # type: ignore[arg-type, return-value]


DAMAGE = {
    "a changed title": "UPDATE frontier_candidate SET title = 'PROVEN' WHERE ordinal = 1",
    "a removed candidate": "DELETE FROM frontier_candidate WHERE ordinal = 1",
    "a changed status": "UPDATE frontier_candidate SET reported_status = 'PROVEN' WHERE reported_status > ''",
    "a longer locked set": "INSERT INTO locked_proven VALUES ('F2')",
    "a changed state": "UPDATE frontier_state SET state = replace(state, 'NONE', 'ALL')",
    "a state that is no JSON": "UPDATE frontier_state SET state = '{'",
    "a removed state": "DELETE FROM frontier_state",
    "a changed revision": "UPDATE frontier_source SET revision = 'main'",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_set_is_unavailable_and_chunks_go_on(
    frontier_store: Store, tmp_path: Path, name: str
) -> None:
    store = damaged(frontier_store, tmp_path, DAMAGE[name])
    state = frontier_status(store=store)
    assert (state["state"], state["ready"], state["error_type"]) == (
        "UNAVAILABLE",
        False,
        "FrontierIntegrityError",
    )
    search = frontier_search("formula", store=store)
    assert (search["state"], search["handles"], search["error_type"]) == (
        "UNAVAILABLE",
        [],
        "FrontierIntegrityError",
    )
    assert anatomy_feed(store=store)["state"] == "UNAVAILABLE"
    with pytest.raises(FrontierIntegrityError):
        frontier_candidate(str(CANDIDATES[0]["id"]), store=store)
    handles = frontier_search("formula", k=1, store=frontier_store)["handles"]
    with pytest.raises(HydrationDenied):
        AuthorizedFrontierHydrator(lambda *a: True, store=store).hydrate(handles, **REQUEST)
    assert HybridSecondBrain(store).context("receipts")["ready"]


def test_a_database_without_a_set_says_so(store: Store) -> None:
    assert frontier_status(store=store)["error_type"] == "FrontierIntegrityError"
    assert frontier_search("formula", store=store)["state"] == "UNAVAILABLE"


@pytest.mark.parametrize("attack", [
    "UPDATE frontier_candidate SET candidate_state = 'PROMOTED'",
    "UPDATE frontier_candidate SET proof_status = reported_status WHERE kind = 'attributed-formula'",
    "UPDATE frontier_candidate SET reported_status = proof_status WHERE kind = 'executable-formula'",
])  # fmt: skip
def test_the_schema_itself_refuses_a_promotion(frontier_store: Store, tmp_path: Path, attack: str) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        damaged(frontier_store, tmp_path, attack)


def test_no_view_or_payload_shows_a_record_as_locked_proven(frontier_store: Store) -> None:
    connection = sqlite3.connect(f"file:{frontier_store.path}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    locked = {row["f_number"] for row in connection.execute("SELECT f_number FROM locked_eight")}
    assert locked == set(wire.LOCKED_PROVEN)
    memberships = {
        row["locked_proven_membership"]
        for view in ("attributed_formula", "executable_formula")
        for row in connection.execute(f"SELECT * FROM {view}")
    }
    assert memberships == {"UNKNOWN_NOT_INFERRED_FROM_REPORTED_STATUS", "UNKNOWN_NOT_INFERRED"}
    # No view joins the locked set to records: none has both an F-number and an id.
    for (view,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'view'").fetchall():
        columns = {column[0] for column in connection.execute(f"SELECT * FROM {view} LIMIT 0").description}
        assert not ("f_number" in columns and columns & {"id", "title", "kind", "node_id"}), view
    for query in ("PROVEN", "locked proven", "F18", "F1 F4 F7 F11 F12 F18 F19 F22"):
        for handle in frontier_search(query, k=24, store=frontier_store)["handles"]:
            assert handle["candidate_state"] == "DISCOVERED_REVIEW_REQUIRED"
            assert not {"locked", "lockedProven", "proven"} & handle.keys()
            assert ("proofStatus" in handle) <= (handle["kind"] == "executable-formula")
            assert ("reportedStatus" in handle) <= (handle["kind"] == "attributed-formula")


def test_a_refused_set_stops_a_build(tmp_path: Path, make_store: Callable[..., Store]) -> None:
    folder = tmp_path / "frontier"
    folder.mkdir()
    for name in ("candidates.jsonl", "state.json"):
        (folder / name).write_bytes((FRONTIER / name).read_bytes())
    lines = (
        (folder / "candidates.jsonl")
        .read_text(encoding="utf-8")
        .replace("DISCOVERED_REVIEW_REQUIRED", "PROVEN", 1)
    )
    (folder / "candidates.jsonl").write_text(lines, encoding="utf-8")
    with pytest.raises(FrontierIntegrityError):
        make_store(frontier=folder)


def test_a_refused_projection_of_the_operator_raises_by_every_face(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{}\n", encoding="utf-8")
    monkeypatch.setenv("SECOND_BRAIN_CORPUS", str(bad))
    monkeypatch.setenv("SECOND_BRAIN_CACHE_DIR", str(tmp_path / "cache"))
    for face in (frontier_status, anatomy_feed, lambda: frontier_search("x"), status):
        with pytest.raises(CorpusIntegrityError, match="SECOND_BRAIN_CORPUS"):
            face()
