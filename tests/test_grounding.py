"""When an answer is grounded, and that an abstention says by which rule."""

import math

import pytest
from conftest import row
from hypothesis import given
from hypothesis import strategies as st
from simulated_providers import FixedDense, dense_binding, hit

from secondbrain import GroundingRule, HybridSecondBrain
from secondbrain.retrieval.coverage import Held, idf

OFF = GroundingRule(min_coverage=0, min_held_terms=0, long_query_terms=0)
ONE_OF_THREE = "ledger giraffes trampolines"
LOW_COVERAGE = "run zebra"  # "run" stands in half of the chunks, "zebra" in none


@pytest.fixture
def common(make_store):
    rows = [row(f"n:{at}", "run " + ("a common thing" if at < 3 else "of another kind")) for at in range(6)]
    return make_store([*rows, row("n:6", "zzz")])


def asked(store, query, rule=None, **options):
    context = HybridSecondBrain(store, grounding=rule, **options).context(query)
    return context, context["ranking_receipt"]["abstention"]


def test_one_stray_word_of_three_is_no_ground(store):
    context, rule = asked(store, ONE_OF_THREE)
    assert context["state"] == "ABSTAIN_NO_GROUNDED_HANDLES"
    assert (context["ready"], context["handles"], context["evidence"]) == (False, [], [])
    assert rule == {
        "min_coverage": 0.24,
        "min_held_terms": 2,
        "long_query_terms": 8,
        "best_coverage": pytest.approx(rule["best_coverage"]),
        "best_held_terms": 1,
        "grounded_by": "NOTHING",
    }
    assert 0 < rule["best_coverage"] < 1


def test_zero_turns_the_part_on_held_terms_off(store):
    context, rule = asked(store, ONE_OF_THREE, GroundingRule(min_coverage=0.0, min_held_terms=0))
    assert (context["ready"], rule["grounded_by"], rule["min_held_terms"]) == (True, "SPARSE", 0)


def test_zero_turns_the_part_on_coverage_off(common):
    context, rule = asked(common, LOW_COVERAGE, GroundingRule(min_coverage=0.5))
    assert (context["ready"], rule["grounded_by"]) == (False, "NOTHING")
    assert rule["best_coverage"] < 0.5
    context, rule = asked(common, LOW_COVERAGE, GroundingRule(min_coverage=0))
    assert (context["ready"], rule["grounded_by"]) == (True, "SPARSE")


def test_a_long_question_needs_no_coverage_but_two_held_terms(store):
    question = "receipts chained zebras giraffes trampolines umbrellas volcanoes xylophones yachts"
    context, rule = asked(store, question, GroundingRule(min_coverage=0.9))
    assert (context["ready"], rule["best_held_terms"]) == (True, 2)
    context, _ = asked(store, question, GroundingRule(min_coverage=0.9, long_query_terms=10))
    assert not context["ready"]
    context, _ = asked(store, question, GroundingRule(min_coverage=0.9, min_held_terms=3))
    assert not context["ready"]


def test_everything_off_answers_whatever_shares_a_word(store):
    context, rule = asked(store, "ledger " + " ".join(f"absent{at}" for at in range(40)), OFF)
    assert (context["ready"], rule["grounded_by"]) == (True, "SPARSE")
    context, rule = asked(store, "nothing-shared-at-all", OFF)
    assert (context["ready"], rule["grounded_by"]) == (False, "NOTHING")


@pytest.mark.parametrize(
    ("floor", "grounded_by"), [(None, "DENSE"), (0.7, "DENSE"), (0.8, "DENSE"), (0.81, "NOTHING")]
)
def test_a_dense_hit_grounds_an_answer_from_its_floor_up(store, floor, grounded_by):
    provider = FixedDense(
        store, [hit(store, "note:1", 0.8)], binding=dense_binding(store, grounding_floor=floor)
    )
    context, rule = asked(store, "unrelated words altogether", dense_provider=provider)
    assert rule["grounded_by"] == grounded_by
    assert context["ready"] == (grounded_by == "DENSE")
    assert context["ranking_receipt"]["dense_binding"]["grounding_floor"] == floor


def test_a_dense_leg_without_a_hit_grounds_nothing(store):
    _, rule = asked(store, "unrelated words altogether", dense_provider=FixedDense(store))
    assert rule["grounded_by"] == "NOTHING"


def test_coverage_is_the_share_of_idf_weight(store):
    context, _ = asked(store, "receipt zebra", OFF)
    receipt = context["ranking_receipt"]
    total = store.snapshot().chunk_count
    weights = [idf(total, 2), idf(total, 0)]  # "receipt" in two chunks of six, "zebra" in none
    assert [term["idf"] for term in receipt["terms"]] == weights
    assert receipt["selected"][0]["held_terms"] == [0]
    assert receipt["selected"][0]["coverage"] == pytest.approx(weights[0] / math.fsum(weights))


@given(total=st.integers(1, 10**6), data=st.data())
def test_idf_is_never_negative_and_falls_with_frequency(total, data):
    one, other = sorted(data.draw(st.tuples(st.integers(0, total), st.integers(0, total))))
    assert 0 <= idf(total, other) <= idf(total, one)


@given(
    coverage=st.floats(0, 1),
    held=st.integers(0, 12),
    terms=st.integers(1, 12),
    rule=st.builds(GroundingRule, st.floats(0, 1), st.integers(0, 4), st.integers(0, 12)),
)
def test_a_candidate_that_holds_more_is_grounded_wherever_one_that_holds_less_is(coverage, held, terms, rule):
    less, more = Held(tuple(range(held)), coverage), Held(tuple(range(held + 1)), min(1.0, coverage + 0.1))
    assert rule.grounds(more, terms) or not rule.grounds(less, terms)
