"""Aliases in search: both spellings are one term, and the receipt names the rows that joined them."""

import pytest
from conftest import row, write_projection

from secondbrain import GroundingRule, HybridSecondBrain, Store
from secondbrain.retrieval.query import alias_sides
from secondbrain.store.build import build

ALIASES = """
[[alias]]
term = "RRF"
same_as = "reciprocal rank fusion"
reason = "the paper's name and its abbreviation"

[[alias]]
term = "time to live"
same_as = "TTL"
reason = "the words and their initials"

[[alias]]
term = "合約"
same_as = "contract"
reason = "one word in two languages"
"""
ROWS = [
    row("long", "Lists are joined by reciprocal rank fusion here."),
    row("short", "Lists are joined by RRF here."),
    row("apart", "Fusion of a reciprocal kind has no rank of its own."),
    row("lambda", "Lambda stays a conjecture."),
    row("sign", "Λ stays a conjecture."),
    row("lease", "A lease ends by its time to live."),
    row("ttl", "A lease ends by its TTL."),
    row("han", "中文合約轉換"),
    row("english", "A contract is converted."),
    row("other", "Nothing of these stands here, and more words besides."),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aliases")
    (folder / "aliases.toml").write_text(ALIASES, encoding="utf-8")
    built = build(
        write_projection(folder / "p.jsonl", ROWS), folder / "s.db", aliases=folder / "aliases.toml"
    )
    return Store(built.path)


def ids(context):
    return [handle["nodeId"] for handle in context["handles"]]


@pytest.mark.parametrize(
    ("query", "both", "alias_row"),
    [
        ("lambda", {"lambda", "sign"}, 1),
        ("Λ", {"lambda", "sign"}, 1),
        ("RRF", {"long", "short"}, 2),
        ("reciprocal rank fusion", {"long", "short"}, 2),
        ("TTL", {"lease", "ttl"}, 3),
        ("time to live", {"lease", "ttl"}, 3),
        ("合約", {"han", "english"}, 4),
        ("contract", {"han", "english"}, 4),
    ],
)
def test_each_spelling_finds_both_and_the_receipt_names_the_row(store, query, both, alias_row):
    context = HybridSecondBrain(store).context(query)
    assert both <= set(ids(context)[:3])
    receipt = context["ranking_receipt"]
    assert [use["row"] for use in receipt["aliases"]] == [alias_row]
    assert receipt["aliases"][0]["terms"] == list(range(len(receipt["terms"])))
    for node in receipt["selected"]:
        if node["node_id"] in both:
            assert node["coverage"] == 1.0
            assert node["held_terms"] == list(range(len(receipt["terms"])))


def test_a_word_and_its_alias_are_one_term_of_the_query(store):
    receipt = HybridSecondBrain(store).context("RRF zebra")["ranking_receipt"]
    assert len(receipt["terms"]) == 2  # not four: the other spelling adds none
    long, short = (
        next(node for node in receipt["selected"] if node["node_id"] == one) for one in ("long", "short")
    )
    assert long["coverage"] == short["coverage"]


def test_the_words_of_a_spelling_apart_are_not_the_alias_in_the_index(store):
    # The phrase is searched for, so scattered words do not match a query for the abbreviation.
    assert "apart" not in ids(HybridSecondBrain(store, grounding=GroundingRule(0, 0, 0)).context("RRF"))


def test_a_query_without_an_alias_names_none(store):
    assert HybridSecondBrain(store).context("conjecture")["ranking_receipt"]["aliases"] == []


def test_part_of_a_spelling_calls_for_nothing(store):
    assert HybridSecondBrain(store).context("rank fusion")["ranking_receipt"]["aliases"] == []


def test_an_alias_counts_for_each_place_where_it_stands(store):
    receipt = HybridSecondBrain(store).context("RRF or lambda or RRF")["ranking_receipt"]
    assert [(use["row"], use["terms"]) for use in receipt["aliases"]] == [(1, [1]), (2, [0]), (2, [2])]


def test_without_the_alias_the_other_spelling_is_not_found(make_store):
    alone = HybridSecondBrain(make_store(ROWS), grounding=GroundingRule(0, 0, 0))
    assert "long" not in ids(alone.context("RRF"))


def test_the_longest_queries_meet_a_thousand_aliases_in_bounded_time(tmp_path):
    import time

    entries = [f'[[alias]]\nterm = "w{at}"\nsame_as = "x{at} y{at}"\nreason = "r"\n' for at in range(1000)]
    (tmp_path / "aliases.toml").write_text("".join(entries), encoding="utf-8")
    built = build(
        write_projection(tmp_path / "p.jsonl", ROWS), tmp_path / "s.db", aliases=tmp_path / "aliases.toml"
    )
    brain = HybridSecondBrain(Store(built.path))
    brain.context("warm")
    started = time.process_time()
    brain.context("合" * 2000)
    assert time.process_time() - started < 1.0


def test_a_spelling_without_a_word_calls_for_nothing():
    def tokens(text):
        return tuple(text.lower().split())

    assert alias_sides([(1, "🧠", "brain"), (2, "mind", "🧠")], tokens) == ()
    assert [side.tokens for side in alias_sides([(3, "the who", "band")], tokens)] == [
        ("the", "who"),
        ("band",),
    ]
