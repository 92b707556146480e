"""Every way in which a provider can misbehave blocks the request, and is blocked by one check each.

Each misbehaviour names the check that stops it. The second test takes that check out and asserts that
the same misbehaviour is then no longer refused, so the first test is red without its check.
"""

import time
from collections.abc import Mapping
from contextlib import nullcontext
from itertools import count
from types import MappingProxyType

import pytest
from simulated_providers import FixedDense, FixedReranker, dense_binding, hit

from secondbrain import (
    DenseHit,
    HybridSecondBrain,
    ProviderBoundaryError,
    ProviderUnavailable,
    RerankerBinding,
    RetrievalBoundaryError,
    Store,
    StoreIntegrityError,
)
from secondbrain.retrieval import providers

QUERY = "receipt chain"
NAN, INF = float("nan"), float("inf")


def honest(store):
    return [hit(store, "note:1", 0.9), hit(store, "doc:b:0001", 0.8)]


def one_hit(score):
    return lambda store: FixedDense(store, [hit(store, "note:1", score)])


def bound(**changed):
    """A provider that states an honest binding when it is configured, and another when it is asked."""

    def make(store):
        provider = FixedDense(store, honest(store))
        provider.later = dense_binding(store, **changed)
        return provider

    return make


class LyingSequence(list):
    """Says that it is short, and is long."""

    def __len__(self):
        return 1


def many(store, kind=list):
    return FixedDense(store, kind([hit(store, "note:1", 1.0)] * 129))


def rebinding(store):
    def rebind(provider):
        provider.binding = dense_binding(store, revision="b" * 40)

    return FixedDense(store, honest(store), before=rebind)


def raising(error):
    def fail(*given):
        raise error

    return fail


class NoDenseHit(tuple):
    node_id, sha256, score = "note:1", "", 1.0


DENSE = {
    "an unpinned revision": (bound(revision="main"), "pins_its_revision"),
    "a short revision": (bound(revision="a" * 39), "pins_its_revision"),
    "a revision in capitals": (bound(revision="A" * 40), "pins_its_revision"),
    "a revision of another type": (bound(revision=7), "pins_its_revision"),
    "no model": (bound(model=" "), "names_its_model"),
    "a model that is no text": (bound(model=None), "names_its_model"),
    "a model that is not Unicode": (bound(model="m\ud800"), "names_its_model"),
    "no dimensions": (bound(dimensions=0), "states_its_dimensions"),
    "dimensions that are true": (bound(dimensions=True), "states_its_dimensions"),
    "dimensions without end": (bound(dimensions=10**5000), "states_its_dimensions"),
    "a floor that is no number": (bound(grounding_floor=NAN), "states_a_finite_floor"),
    "a floor beyond every float": (bound(grounding_floor=10**400), "states_a_finite_floor"),
    "another generation": (bound(generation_sha256="0" * 64), "indexed_this_generation"),
    "a binding that changes": (rebinding, "kept_its_binding"),
    "an unknown node": (lambda s: FixedDense(s, [DenseHit("doc:z", "0" * 64, 1.0)]), "all_known"),
    "a node id with a lone surrogate": (
        lambda s: FixedDense(s, [DenseHit("\ud800", "0" * 64, 1.0)]),
        "all_known",
    ),
    "a node id without end": (
        lambda s: FixedDense(s, [DenseHit("n" * 20_000_000, "0" * 64, 1.0)]),
        "all_known",
    ),
    "a node id with a NUL": (lambda s: FixedDense(s, [DenseHit("note:1\0", "0" * 64, 1.0)]), "all_known"),
    "a node twice": (lambda s: FixedDense(s, [hit(s, "note:1", 0.9), hit(s, "note:1", 0.8)]), "each_once"),
    "a wrong digest": (lambda s: FixedDense(s, [DenseHit("note:1", "0" * 64, 1.0)]), "all_digests_right"),
    "the digest of another node": (
        lambda s: FixedDense(s, [DenseHit("note:1", hit(s, "note:2").sha256, 1.0)]),
        "all_digests_right",
    ),
    "a score that is no number": (one_hit(NAN), "finite_scores"),
    "an infinite score": (one_hit(INF), "finite_scores"),
    "a score below all": (one_hit(-INF), "finite_scores"),
    "a score that is true": (one_hit(True), "finite_scores"),
    "a score in letters": (one_hit("0.9"), "finite_scores"),
    "a score that is missing": (one_hit(None), "finite_scores"),
    "a score beyond every float": (one_hit(10**400), "finite_scores"),
    "a complex score": (one_hit(1j), "finite_scores"),
    "too many rows": (many, "few_enough"),
    "more rows than it says": (lambda s: many(s, LyingSequence), "few_enough"),
    "a generator": (lambda s: FixedDense(s, (one for one in honest(s))), "is_a_sequence"),
    "nothing": (lambda s: FixedDense(s, None), "is_a_sequence"),
    "a text": (lambda s: FixedDense(s, "note:1"), "is_a_sequence"),
    "a mapping": (lambda s: FixedDense(s, {"note:1": 1.0}), "is_a_sequence"),
    "rows of plain tuples": (lambda s: FixedDense(s, [tuple(hit(s, "note:1"))]), "all_hits"),
    "rows of its own kind": (lambda s: FixedDense(s, [NoDenseHit()]), "all_hits"),
    "an id that is no text": (lambda s: FixedDense(s, [DenseHit(7, "0" * 64, 1.0)]), "all_hits"),
    "a digest that is no text": (lambda s: FixedDense(s, [DenseHit("note:1", b"", 1.0)]), "all_hits"),
    "an error of its own": (
        lambda s: FixedDense(s, before=raising(ConnectionError("secret host"))),
        "asked",
    ),
    "an error like the store's": (
        lambda s: FixedDense(s, before=raising(StoreIntegrityError("x"))),
        "asked",
    ),
    "a recursion without end": (lambda s: FixedDense(s, before=raising(RecursionError())), "asked"),
}


def rescoring(scores=None, **options):
    return lambda: FixedReranker(scores, **options)


def changed_reranker(**changed):
    def make():
        reranker = FixedReranker()
        reranker.later = RerankerBinding(**{"model": "m", "revision": "a" * 40, **changed})
        return reranker

    return make


def rebind_reranker(reranker, handles):
    reranker.binding = RerankerBinding("another", "b" * 40)


RERANKER = {
    "an unpinned revision": (changed_reranker(revision="latest"), "pins_its_revision"),
    "no model": (changed_reranker(model=""), "names_its_model"),
    "a binding that changes": (rescoring(before=rebind_reranker), "kept_its_binding"),
    "a candidate left out": (rescoring(whole_answer={"note:1": 1.0}), "exactly_the_candidates"),
    "a node too many": (
        rescoring(whole_answer={"note:1": 1.0, "doc:a:0001": 1.0, "doc:b:0001": 1.0}),
        "exactly_the_candidates",
    ),
    "an id with a lone surrogate": (
        rescoring(whole_answer={"note:1": 1.0, "\ud800": 1.0}),
        "exactly_the_candidates",
    ),
    "a score that is no number": (rescoring({"note:1": NAN}), "finite_new_scores"),
    "an infinite score": (rescoring({"note:1": INF}), "finite_new_scores"),
    "a score that is true": (rescoring({"note:1": True}), "finite_new_scores"),
    "a score in letters": (rescoring({"note:1": "1"}), "finite_new_scores"),
    "a score beyond every float": (rescoring({"note:1": 10**400}), "finite_new_scores"),
    "a list of pairs": (rescoring(whole_answer=[("note:1", 1.0), ("doc:a:0001", 0.5)]), "is_a_mapping"),
    "nothing": (rescoring(whole_answer=0), "is_a_mapping"),
    "an error of its own": (rescoring(before=raising(TimeoutError("host"))), "asked"),
}


def configured(store, provider=None, reranker=None):
    brain = HybridSecondBrain(store, dense_provider=provider, reranker=reranker)
    for one in (provider, reranker):
        if hasattr(one, "later"):
            one.binding = one.later
    return brain


def take_out(monkeypatch, name):
    """Take one check out: of the tuple that holds it, or of the module."""
    check = getattr(providers, name)
    for held, checks in list(vars(providers).items()):
        if isinstance(checks, tuple) and check in checks:
            monkeypatch.setattr(providers, held, tuple(one for one in checks if one is not check))
            return
    instead = {
        "provider_faults": lambda who: nullcontext(),
        "asked": lambda who, question: question(),
    }.get(name, lambda *given: None)
    monkeypatch.setattr(providers, name, instead)


@pytest.mark.parametrize("way", DENSE)
def test_a_dense_provider_that_misbehaves_is_blocked(store, way):
    brain = configured(store, DENSE[way][0](store))
    with pytest.raises(ProviderBoundaryError) as caught:
        brain.context(QUERY)
    assert isinstance(caught.value, RetrievalBoundaryError)
    assert QUERY not in str(caught.value)
    assert "host" not in str(caught.value)


@pytest.mark.parametrize("way", DENSE)
def test_what_blocks_a_dense_provider_is_its_check(store, way, monkeypatch):
    make, check = DENSE[way]
    brain = configured(store, make(store))
    take_out(monkeypatch, check)
    assert not refused_for_the_same_reason(brain, store, make)


@pytest.mark.parametrize("way", RERANKER)
def test_a_reranker_that_misbehaves_is_blocked(store, way):
    brain = configured(store, reranker=RERANKER[way][0]())
    with pytest.raises(ProviderBoundaryError) as caught:
        brain.context(QUERY)
    assert "host" not in str(caught.value)


@pytest.mark.parametrize("way", RERANKER)
def test_what_blocks_a_reranker_is_its_check(store, way, monkeypatch):
    make, check = RERANKER[way]
    brain = configured(store, reranker=make())
    take_out(monkeypatch, check)
    assert not refused_for_the_same_reason(brain, store, lambda store: make(), reranker=True)


def refused_for_the_same_reason(brain, store, make, reranker=False):
    """Say whether a request is refused with the message that the whole set of checks gives."""
    now = message_of(brain)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WHOLE.items():
            patch.setattr(providers, name, value)
        again = make(store)
        whole = configured(store, None if reranker else again, again if reranker else None)
        return now == message_of(whole)


WHOLE = {
    name: value for name, value in vars(providers).items() if isinstance(value, tuple) or callable(value)
}


def message_of(brain):
    try:
        brain.context(QUERY)
    except Exception as error:
        return type(error).__name__, str(error)
    return None


def test_every_check_of_the_module_stops_something():
    named = {check for _, check in (*DENSE.values(), *RERANKER.values())}
    checks = {
        check.__name__ for value in vars(providers).values() if isinstance(value, tuple) for check in value
    }
    # A generation that is no digest can't be the open one either: see the next test.
    assert checks - named == {"states_its_generation"}


def test_a_provider_without_a_proper_binding_is_refused_when_it_is_configured(store):
    for wrong in (
        dense_binding(store, revision="main"),
        dense_binding(store, generation_sha256="x"),
        dense_binding(store, grounding_floor=10**400),
        {"model": "m"},
    ):
        with pytest.raises(ProviderBoundaryError):
            HybridSecondBrain(store, dense_provider=FixedDense(store, binding=wrong))
    with pytest.raises(ProviderBoundaryError):
        HybridSecondBrain(store, dense_provider=object())
    with pytest.raises(ProviderBoundaryError):
        HybridSecondBrain(store, reranker=FixedReranker(binding=dense_binding(store)))
    with pytest.raises(ProviderBoundaryError):
        HybridSecondBrain(store, reranker=object())


def edit(reranker, handles):
    for handle in handles:
        handle["nodeId"] = handle["source"] = handle["note"] = "edited"
    handles.clear()


def test_a_reranker_that_edits_its_handles_changes_nothing(store, monkeypatch):
    honest_answer = HybridSecondBrain(store, reranker=FixedReranker()).context(QUERY)
    assert HybridSecondBrain(store, reranker=FixedReranker(before=edit)).context(QUERY) == honest_answer
    monkeypatch.setattr(providers, "copies", lambda handles: handles)
    with pytest.raises(ProviderBoundaryError):
        HybridSecondBrain(store, reranker=FixedReranker(before=edit)).context(QUERY)


def test_providers_get_the_query_and_handles_and_no_text(store):
    provider = FixedDense(store, honest(store))
    seen = []
    reranker = FixedReranker(before=lambda reranker, handles: seen.extend(handles))
    HybridSecondBrain(store, dense_provider=provider, reranker=reranker).context(QUERY)
    assert provider.asked == [(QUERY, 128)]
    assert {key for handle in seen for key in handle} == {
        "nodeId",
        "nodeKind",
        "label",
        "note",
        "source",
        "sourceId",
        "sha256",
    }


def test_a_provider_of_another_generation_is_not_asked(store):
    provider = bound(generation_sha256="0" * 64)(store)
    with pytest.raises(ProviderBoundaryError, match="another generation"):
        configured(store, provider).context(QUERY)
    assert provider.asked == []


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_is_let_through(store, stop):
    with pytest.raises(stop):
        HybridSecondBrain(store, dense_provider=FixedDense(store, before=raising(stop()))).context(QUERY)


def test_any_sequence_and_any_mapping_will_do(store):
    provider = FixedDense(store, tuple(honest(store)))
    reranker = FixedReranker(whole_answer=MappingProxyType({"note:1": 1, "doc:a:0001": 2, "doc:b:0001": 3.5}))
    context = HybridSecondBrain(store, dense_provider=provider, reranker=reranker).context(QUERY)
    assert [handle["nodeId"] for handle in context["handles"]] == ["doc:b:0001", "doc:a:0001", "note:1"]


WRONG_SETTINGS = [
    {"sparse_weight": -1.0},
    {"sparse_weight": NAN},
    {"dense_weight": INF},
    {"dense_weight": 10**400},
    {"sparse_weight": True},
    {"sparse_weight": "1"},
    {"sparse_weight": 0, "dense_weight": 0.0},
    {"rrf_k": 0},
    {"rrf_k": 60.0},
    {"rrf_k": True},
    {"rrf_k": 10**400},
    {"per_source_limit": -1},
    {"per_source_limit": "3"},
    {"per_source_limit": 10**400},
    {"grounding": (0.2, 2, 8)},
    {"grounding": NAN},
]


@pytest.mark.parametrize("wrong", WRONG_SETTINGS, ids=str)
def test_a_coordinator_that_cannot_be_followed_is_refused(store, wrong):
    from secondbrain import ConfigurationError

    with pytest.raises(ConfigurationError):
        HybridSecondBrain(store, **wrong)


class _Two(str):
    """A text that is unequal to nothing."""

    __hash__ = str.__hash__

    def __ne__(self, other):
        return False


class _Number(float):
    """A number that is another one when it is asked for."""

    def __float__(self):
        return NAN


def test_what_is_checked_is_what_is_used(store):
    """A subclass of a text or number says one thing to a check and another to whoever uses it."""
    right = hit(store, "note:1", 0.5)
    lying = FixedDense(store, [DenseHit("note:1", _Two("0" * 64), 0.5)])
    with pytest.raises(ProviderBoundaryError, match="wrong digest"):
        HybridSecondBrain(store, dense_provider=lying).context(QUERY)
    shifting = FixedDense(store, [DenseHit("note:1", right.sha256, _Number(0.5))])
    receipt = HybridSecondBrain(store, dense_provider=shifting).context(QUERY)["ranking_receipt"]
    assert 0.5 in [node["dense_score"] for node in receipt["selected"]]


def test_a_binding_that_is_changed_in_place_blocks(store):
    class Shifting(FixedDense):
        def search(self, query, limit):
            object.__setattr__(self.binding, "model", "another")
            return super().search(query, limit)

    with pytest.raises(ProviderBoundaryError, match="changed its binding"):
        HybridSecondBrain(store, dense_provider=Shifting(store, [])).context(QUERY)


def test_a_mapping_without_an_end_blocks(store):
    class Endless(Mapping):
        def __getitem__(self, key):
            return 1.0

        def __iter__(self):
            return map(str, count())

        def __len__(self):
            return 1

    class Reranker(FixedReranker):
        def score(self, query, handles):
            return Endless()

    with pytest.raises(ProviderBoundaryError, match="exactly the candidates"):
        HybridSecondBrain(store, reranker=Reranker({})).context(QUERY)


def test_a_providers_own_words_never_leave(store):
    class Talking(FixedDense):
        def search(self, query, limit):
            raise ProviderUnavailable(f"no answer to {query}")

    brain = HybridSecondBrain(store, dense_provider=Talking(store, []), allow_sparse_fallback=False)
    with pytest.raises(ProviderUnavailable) as caught:
        brain.context(QUERY)
    assert QUERY not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_slow_provider_does_not_use_up_the_stores_time(store):
    hurried = Store(store.path, deadline=0.05)

    class Slow(FixedDense):
        def search(self, query, limit):
            time.sleep(0.1)
            return super().search(query, limit)

    brain = HybridSecondBrain(hurried, dense_provider=Slow(hurried, [hit(hurried, "note:1", 0.5)]))
    assert brain.context(QUERY)["ready"]
