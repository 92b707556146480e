"""A receipt's places, mapped back onto the words that the person typed."""

import pytest
from conftest import ROWS, write_projection
from hypothesis import given
from hypothesis import strategies as st

from secondbrain import HybridSecondBrain, Store
from secondbrain.space.page import words
from secondbrain.store.build import build


def term(start: int, end: int, idf: float = 1.0) -> words.wire.QueryTerm:
    return {"start": start, "end": end, "idf": idf}


def test_stretches_split_a_query_by_what_is_held() -> None:
    found = words.stretches("the receipt chain", [term(4, 11), term(12, 17)], [1])
    assert found == [
        ("the ", "uncounted"),
        ("receipt", "lacking"),
        (" ", "uncounted"),
        ("chain", "held"),
    ]


def test_a_character_that_any_held_term_covers_is_held() -> None:
    found = words.stretches("中文合", [term(0, 1), term(0, 2), term(1, 2), term(2, 3)], [1])
    assert found == [("中文", "held"), ("合", "lacking")]


def test_a_word_typed_twice_is_listed_once() -> None:
    found = words.counted_words("Chain chain", [term(0, 5), term(6, 11)], [0, 1])
    assert found == [("Chain", "held")]


def test_weights_are_shares_and_unknown_words_are_marked() -> None:
    rarest = words.idf(10, 0)
    found = words.read_words("ab cd", [term(0, 2, 1.0), term(3, 5, rarest)], 10)
    assert [word.unknown for word in found] == [False, True]
    assert sum(word.weight for word in found) == pytest.approx(1.0)


def test_parts_of_an_identifier_weigh_together() -> None:
    found = words.read_words("OpenFile", [term(0, 8), term(0, 8), term(0, 8)], 10)
    assert [(word.text, word.weight) for word in found] == [("OpenFile", 1.0)]


@pytest.fixture(scope="module")
def brain(tmp_path_factory: pytest.TempPathFactory) -> HybridSecondBrain:
    folder = tmp_path_factory.mktemp("words")
    built = build(write_projection(folder / "projection.jsonl", ROWS), folder / "store.db")
    return HybridSecondBrain(Store(built.path))


@given(text=st.text(alphabet='abΛλ 中文เก"-_.OpenFile', max_size=40))
def test_stretches_of_a_real_receipt_give_back_the_query(brain: HybridSecondBrain, text: str) -> None:
    terms = brain.context(text)["ranking_receipt"]["terms"]
    assert "".join(one.text for one in words.stretches(text, terms, range(len(terms)))) == text
    assert all(word.text.strip() for word in words.read_words(text, terms, len(ROWS)))
