"""Hydration of chunks: every node authorised, every digest held, or nothing at all, in one message."""

import asyncio
import gc
import json
import os
import sqlite3
import time
import traceback
import warnings

import pytest
from conftest import ROWS, row

from secondbrain import AuthorizedHydrator, ConfigurationError, HybridSecondBrain, HydrationDenied, Store
from secondbrain import hydration as hydration_module
from secondbrain.digests import canonical_sha256, sha256_text
from secondbrain.hydration import DENIED, MAX_HANDLES

WHO = {"principal_id": "principal-123", "tenant_id": "tenant-abc", "policy_revision": "a" * 40}
TEXTS = {one["id"]: one["text"] for one in ROWS}
QUERY = "receipt chain"


def allow(*request):
    return True


@pytest.fixture
def context(store):
    return HybridSecondBrain(store).context(QUERY)


def hydrate(store, handles, authorizer=allow, strict=False, deadline=10.0, **changed):
    hydrator = AuthorizedHydrator(authorizer, store=store, strict=strict, deadline=deadline)
    return hydrator.hydrate(handles, **{**WHO, **changed})


def denied(store, handles, authorizer=allow, **options):
    with pytest.raises(HydrationDenied) as caught:
        hydrate(store, handles, authorizer, **options)
    assert str(caught.value) == DENIED
    return caught.value


def test_authorised_handles_become_their_texts_in_their_order(store, context):
    hydrated = hydrate(store, context["handles"])
    assert hydrated == {
        "schema": "szl.second-brain.authorized-hydration/v1",
        "state": "AUTHORIZED_CONTENT_READY",
        "ready": True,
        "content_access": "CONTROLLER_ONLY",
        "principal_id_sha256": sha256_text("principal-123"),
        "tenant_id_sha256": sha256_text("tenant-abc"),
        "policy_revision": "a" * 40,
        "evidence_set_sha256": context["evidence_set_sha256"],
        "documents": [
            {**evidence, "content": TEXTS[evidence["node_id"]]} for evidence in context["evidence"]
        ],
        "generation_sha256": context["generation_sha256"],
        "raw_graph_nodes_admitted_to_gradients": 0,
    }
    reversed_handles = context["handles"][::-1]
    again = hydrate(store, reversed_handles)
    assert [document["node_id"] for document in again["documents"]] == [
        one["nodeId"] for one in reversed_handles
    ]
    assert again["evidence_set_sha256"] == canonical_sha256(context["evidence"][::-1])


def test_the_authoriser_is_asked_for_every_node_with_all_that_it_needs(store, context):
    asked = []
    hydrate(store, context["handles"], lambda *request: asked.append(request) or True)
    assert asked == [
        ("principal-123", "tenant-abc", "a" * 40, one["nodeId"], one["source"]) for one in context["handles"]
    ]


def test_handles_of_four_keys_hydrate(store, context):
    cut = [{key: one[key] for key in ("nodeId", "nodeKind", "label", "note")} for one in context["handles"]]
    assert hydrate(store, cut)["evidence_set_sha256"] == context["evidence_set_sha256"]


def test_a_note_is_not_compared(store, context):
    assert hydrate(store, [{**one, "note": "another"} for one in context["handles"]])["ready"]


def test_strict_refuses_a_handle_without_source_or_digest(store, context):
    assert hydrate(store, context["handles"], strict=True)["ready"]
    for name in ("source", "sha256"):
        without = [{key: value for key, value in one.items() if key != name} for one in context["handles"]]
        denied(store, without, strict=True)
        assert hydrate(store, without)["ready"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"source": "doc "},
        {"sha256": "0" * 64},
        {"source": None},
        {"sha256": None},
        {"nodeId": "doc:z"},
        {"nodeId": "\ud800"},
        {"nodeId": "note:1\0"},
        {"nodeId": "n" * 10_000_000},
    ],
    ids=lambda one: ascii(one)[:40],
)
def test_one_wrong_handle_fails_the_whole_call(store, context, wrong):
    denied(store, [context["handles"][0], {**context["handles"][1], **wrong}])


class Truthy:
    """Like a truth value of an array library: true, equal to True, and not True."""

    def __bool__(self):
        return True

    def __eq__(self, other):
        return True

    __hash__ = None


class TrueNumber(int):
    pass


NOT_TRUE = {
    "1": 1,
    "1.0": 1.0,
    "yes": "yes",
    "None": None,
    "False": False,
    "truthy": Truthy(),
    "a list": [True],
    "a number like True": TrueNumber(1),
    "the type": bool,
    "NotImplemented": NotImplemented,
}


@pytest.mark.parametrize("answer", NOT_TRUE.values(), ids=NOT_TRUE)
def test_only_the_object_true_allows(store, context, answer):
    denied(store, context["handles"], lambda *request: answer)


def test_a_coroutine_is_no_permission(store, context):
    async def authorizer(*request):
        return True

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # "was never awaited": that is the fault
        denied(store, context["handles"], authorizer)
        gc.collect()


def test_one_node_that_is_not_allowed_fails_the_whole_call_before_any_text_is_read(
    store, context, monkeypatch
):
    read = []
    reader = store.reader()
    rows = reader.rows
    monkeypatch.setattr(reader, "rows", lambda name, *given: read.append(name) or rows(name, *given))
    last = context["handles"][-1]["nodeId"]
    denied(store, context["handles"], lambda *request: request[3] != last)
    assert read == ["read/nodes"]


@pytest.mark.parametrize(
    "error", [ValueError("doc:a:0001"), HydrationDenied("doc:a:0001"), RecursionError(), StopIteration()]
)
def test_an_authoriser_that_raises_denies(store, context, error):
    def authorizer(*request):
        raise error

    denied(store, context["handles"], authorizer)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
def test_what_ends_the_program_is_let_through_and_the_store_stays_usable(store, context, stop):
    def authorizer(*request):
        raise stop

    with pytest.raises(stop):
        hydrate(store, context["handles"], authorizer)
    assert hydrate(store, context["handles"])["ready"]


def test_an_authoriser_that_outlasts_the_deadline_denies(store, context):
    def slow(*request):
        time.sleep(0.03)
        return True

    assert hydrate(store, context["handles"], slow, deadline=5)["ready"]
    denied(store, context["handles"], slow, deadline=0.05)  # together: two nodes


def test_an_authorisers_time_is_not_the_stores(make_store):
    store = make_store()
    store = Store(store.path, deadline=0.05)
    context = HybridSecondBrain(store).context(QUERY)

    def slow(*request):
        time.sleep(0.06)
        return True

    assert hydrate(store, context["handles"], slow)["ready"]


@pytest.mark.parametrize("deadline", [float("nan"), float("inf"), -1, "10", None])
def test_a_deadline_that_is_no_time_is_refused(store, deadline):
    with pytest.raises(ConfigurationError, match="deadline"):
        AuthorizedHydrator(allow, store=store, deadline=deadline)


def test_an_authoriser_that_cannot_be_called_is_refused(store):
    with pytest.raises(ConfigurationError, match="authorizer"):
        AuthorizedHydrator(True, store=store)


def test_an_authoriser_that_changes_its_mind_is_asked_anew(store, context):
    answers = iter([True, True, False, True])
    hydrator = AuthorizedHydrator(lambda *request: next(answers), store=store)
    assert hydrator.hydrate(context["handles"], **WHO)["ready"]
    with pytest.raises(HydrationDenied):
        hydrator.hydrate(context["handles"], **WHO)


def test_an_authoriser_that_hydrates_itself_disturbs_nothing(store, context):
    def authorizer(*request):
        return hydrate(store, context["handles"])["ready"]

    assert (
        hydrate(store, context["handles"], authorizer)["evidence_set_sha256"]
        == context["evidence_set_sha256"]
    )


def test_handles_that_change_while_the_authoriser_decides_change_nothing(store, context):
    handles = [dict(context["handles"][0])]
    secret = context["handles"][1]["nodeId"]

    def authorizer(*request):
        handles[0]["nodeId"] = secret
        handles.append(dict(context["handles"][1]))
        return request[3] != secret

    documents = hydrate(store, handles, authorizer)["documents"]
    assert [document["node_id"] for document in documents] == [context["handles"][0]["nodeId"]]


def tampered(store, statement, *parameters):
    """Change a row in place as an intruder would: without the guards, the file's time put back."""
    found = os.stat(store.path)
    with sqlite3.connect(store.path) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement, parameters)
    connection.close()
    os.utime(store.path, ns=(found.st_atime_ns, found.st_mtime_ns))


def test_a_row_changed_on_disk_between_search_and_hydration_is_never_hydrated(store, context):
    node_id = context["handles"][0]["nodeId"]
    tampered(store, "UPDATE chunk SET text = 'changed' WHERE node_id = ?", node_id)
    denied(Store(store.path), context["handles"])
    store.path.with_name(store.path.name + ".sha256").unlink()
    denied(Store(store.path), context["handles"])


def test_a_changed_row_is_never_hydrated_even_where_the_files_own_digest_agrees(store, context, monkeypatch):
    tampered(store, "UPDATE chunk SET text = 'changed' WHERE node_id = ?", context["handles"][0]["nodeId"])
    resealed(store)
    unseen = Store(store.path)
    assert unseen.snapshot().integrity == "FILE_DIGEST_MATCHED"
    denied(unseen, context["handles"])
    # Red without its check: the changed text comes out.
    monkeypatch.setattr(hydration_module, "_check_digests", lambda documents: None)
    assert hydrate(unseen, context["handles"])["documents"][0]["content"] == "changed"


def test_a_row_changed_with_its_digest_is_not_what_the_handle_names(store, context):
    node_id = context["handles"][0]["nodeId"]
    tampered(
        store,
        "UPDATE chunk SET text = ?, sha256 = ? WHERE node_id = ?",
        "changed",
        sha256_text("changed"),
        node_id,
    )
    resealed(store)
    denied(Store(store.path), context["handles"])


def resealed(store):
    from secondbrain.digests import sha256_file

    beside = store.path.with_name(store.path.name + ".sha256")
    beside.write_text(f"{sha256_file(store.path)}  {store.path.name}\n")


def test_a_file_that_is_gone_denies(store, context):
    store.path.unlink()
    denied(store, context["handles"])


def test_a_handle_of_another_generation_is_denied(make_store, context):
    other = make_store([row(one["id"], one["text"] + " Changed.", source=one["source"]) for one in ROWS])
    denied(other, context["handles"])
    cut = [{"nodeId": one["nodeId"]} for one in context["handles"]]
    assert hydrate(other, cut)["ready"]  # nothing binds these to a generation,
    denied(other, cut, generation_sha256=context["generation_sha256"])  # unless the caller names one
    assert hydrate(other, cut, generation_sha256=other.snapshot().generation_sha256)["ready"]


def test_128_handles_are_taken_and_129_refused(make_store):
    store = make_store([row(f"n:{at:03}", f"text {at}") for at in range(129)])
    handles = [{"nodeId": f"n:{at:03}"} for at in range(129)]
    assert len(hydrate(store, handles[:MAX_HANDLES])["documents"]) == 128
    with pytest.raises(HydrationDenied, match="129 handles; 1 to 128"):
        hydrate(store, handles)
    with pytest.raises(HydrationDenied, match="0 handles"):
        hydrate(store, [])


class LyingSequence(list):
    def __len__(self):
        return 1


def test_a_sequence_that_lies_about_its_length_is_denied(make_store):
    store = make_store([row(f"n:{at:03}", f"text {at}") for at in range(200)])
    denied(store, LyingSequence({"nodeId": f"n:{at:03}"} for at in range(200)))


def test_a_handle_twice_is_denied(store, context):
    denied(store, [context["handles"][0], dict(context["handles"][0])])


@pytest.mark.parametrize(
    "one",
    [None, "note:1", 7, [], {}, {"nodeId": None}, {"nodeId": ["note:1"]}, [("nodeId", "note:1")]],
    ids=ascii,
)
def test_what_is_no_handle_is_denied(store, one):
    denied(store, [one])


def test_a_mapping_that_raises_is_denied(store):
    from collections import UserDict

    class Hostile(UserDict):
        def __getitem__(self, key):
            raise RuntimeError("note:1")

    error = denied(store, [Hostile(nodeId="note:1")])
    assert_carries_nothing(error, "RuntimeError")


@pytest.mark.parametrize(
    "handles", [None, "note:1", b"x", 7, {"nodeId": "note:1"}, {"note:1"}, iter([])], ids=ascii
)
def test_handles_that_are_no_sequence_are_refused(store, handles):
    with pytest.raises(HydrationDenied, match="no sequence"):
        hydrate(store, handles)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("principal_id", ["", "  ", None, 7, "\ud800", b"x"]),
        ("tenant_id", ["", "\t", None, True, "\udfff"]),
        (
            "policy_revision",
            ["main", "a" * 39, "A" * 40, "a" * 64, "sha256:" + "a" * 40, None, "a" * 40 + "\n"],
        ),
        ("generation_sha256", ["", "0" * 63, "G" * 64, 7]),
    ],
)
def test_a_request_that_is_not_in_its_form_says_which_part(store, context, name, values):
    for value in values:
        with pytest.raises(HydrationDenied, match=name):
            hydrate(store, context["handles"], **{name: value})


def test_a_policy_revision_may_be_a_sha256(store, context):
    assert hydrate(store, context["handles"], policy_revision="sha256:" + "0" * 64)["ready"]


def held(error):
    """Yield everything that an exception holds: its chain, and the locals of frames below the test's own."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield from error.args
        trace = error.__traceback__
        while trace is not None:
            if "secondbrain" in trace.tb_frame.f_code.co_filename:
                yield from trace.tb_frame.f_locals.values()
            trace = trace.tb_next
        yield from vars(error).values()
        yield from getattr(error, "__notes__", ())
        error = error.__cause__ or error.__context__


def assert_carries_nothing(error, *secrets):
    assert error.__cause__ is None
    assert error.__context__ is None
    said = "".join(traceback.format_exception(error)) + " ".join(map(ascii, held(error)))
    for secret in secrets:
        assert secret not in said


def test_a_denial_carries_no_text_and_no_stored_digest(store, context):
    cut = [{"nodeId": one["nodeId"]} for one in context["handles"]]
    texts = [TEXTS[one["nodeId"]] for one in context["handles"]]
    digests = [one["sha256"] for one in context["handles"]]

    def raising(*request):
        raise ValueError(*request)

    assert_carries_nothing(denied(store, cut, raising), *texts, *digests)
    assert_carries_nothing(denied(store, cut, lambda *request: False), *texts, *digests)
    tampered(store, "UPDATE chunk SET text = text || ' changed' WHERE node_id = ?", cut[0]["nodeId"])
    resealed(store)
    assert_carries_nothing(denied(Store(store.path), cut), *texts, *digests)


def test_a_denial_is_the_same_whatever_failed(store, context):
    messages = {
        str(denied(store, [{"nodeId": "doc:z"}])),
        str(denied(store, context["handles"], lambda *request: None)),
        str(denied(store, [{**context["handles"][0], "sha256": "0" * 64}])),
        str(denied(store, context["handles"][:1] * 2)),
    }
    assert messages == {DENIED}
    assert not any(one["id"] in DENIED for one in ROWS)


def test_two_rows_with_one_text_hydrate_each_under_its_own_id(make_store):
    store = make_store([row("a", "one text"), row("b", "one text")])
    documents = hydrate(store, [{"nodeId": "b"}, {"nodeId": "a"}])["documents"]
    assert [(one["node_id"], one["content"]) for one in documents] == [("b", "one text"), ("a", "one text")]


def test_a_hydration_survives_json(store, context):
    assert json.loads(json.dumps(hydrate(store, context["handles"])))["ready"]
