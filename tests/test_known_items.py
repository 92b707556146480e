"""Questions that people would ask of the packaged corpus, with the chunks that answer them.

``tests/data/known-items.jsonl`` was written for this corpus, by readers of its chunks, in other words
than the chunks use: 180 questions with their answers, 20 that nothing here answers. The rule of
grounding was tuned on its even-numbered lines. Run with ``-s`` to see the figures.
"""

import json
from pathlib import Path

import pytest
from conftest import ROOT, json_lines

from secondbrain import HybridSecondBrain, Store, retrieve
from secondbrain.digests import canonical_json
from secondbrain.projection.documents import harvest
from secondbrain.store.build import build
from secondbrain.text import STOP_WORDS, prepared, words

ITEMS = list(enumerate(json_lines(Path(__file__).parent / "data" / "known-items.jsonl"), 1))
ANSWERABLE = [(line, item) for line, item in ITEMS if item["answers"]]
UNANSWERABLE = [(line, item) for line, item in ITEMS if not item["answers"]]


@pytest.fixture(scope="module")
def packaged(tmp_path_factory):
    """The packaged corpus, built from its documents: its rows, and its store."""
    folder = tmp_path_factory.mktemp("packaged")
    rows = harvest(ROOT / "corpus").rows
    (folder / "p.jsonl").write_text("".join(canonical_json(one.payload()) + "\n" for one in rows), "utf-8")
    aliases = ROOT / "corpus" / "aliases.toml"
    built = build(folder / "p.jsonl", folder / "s.db", aliases=aliases if aliases.exists() else None)
    return rows, Store(built.path)


def reciprocal_rank(payload, answers):
    ids = [handle["nodeId"] for handle in payload["handles"]]
    return next((1 / rank for rank, node_id in enumerate(ids, 1) if node_id in answers), 0.0)


def mean(values):
    return sum(values) / len(values)


def content_words(query, tokens):
    kept = [query[start:end] for start, end in words(query) if query[start:end].lower() not in STOP_WORDS]
    return {token for word in kept for token in tokens(prepared(word))}


def test_there_are_180_questions_with_answers_and_20_without():
    assert (len(ANSWERABLE), len(UNANSWERABLE)) == (180, 20)
    assert len({item["query"] for _, item in ITEMS}) == 200
    assert sum(line % 2 == 0 for line, _ in UNANSWERABLE) == 10


def test_every_answer_is_a_chunk_of_the_corpus(packaged):
    rows, _ = packaged
    assert {answer for _, item in ANSWERABLE for answer in item["answers"]} <= {one.id for one in rows}


def test_a_question_shares_at_most_half_of_its_words_with_its_answer(packaged, capsys):
    rows, store = packaged
    tokens = store.reader().tokens
    held = {one.id: set(tokens(prepared(f"{one.title}\n{one.text}"))) for one in rows}
    shares = []
    for line, item in ANSWERABLE:
        asked = content_words(item["query"], tokens)
        share = max(len(asked & held[answer]) / len(asked) for answer in item["answers"])
        assert share <= 0.5, f"line {line}"
        shares.append(share)
    vocabulary = set().union(*held.values())
    common = []
    for line, item in UNANSWERABLE:
        asked = content_words(item["query"], tokens)
        assert len(asked & vocabulary) >= 2, f"line {line}"
        common.append(len(asked & vocabulary) / len(asked))
    with capsys.disabled():
        print(
            f"\nwords shared: with the answer {mean(shares):.2f}, unanswerable with corpus {mean(common):.2f}"
        )


def test_known_items_are_found(packaged, capsys):
    _, store = packaged
    brain = HybridSecondBrain(store)
    leg = mean(
        [reciprocal_rank(retrieve(item["query"], 10, store=store), item["answers"]) for _, item in ANSWERABLE]
    )
    whole = mean(
        [reciprocal_rank(brain.context(item["query"], 10), item["answers"]) for _, item in ANSWERABLE]
    )
    with capsys.disabled():
        print(f"\nMRR@10: BM25 {leg:.3f}, context {whole:.3f}")
    assert leg >= 0.80


def test_unanswerable_questions_abstain_and_answerable_ones_rarely(packaged, capsys):
    _, store = packaged
    brain = HybridSecondBrain(store)
    abstained = {line for line, item in ITEMS if not brain.context(item["query"])["ready"]}
    rightly = [line for line, _ in UNANSWERABLE if line in abstained]
    wrongly = [line for line, _ in ANSWERABLE if line in abstained]
    for name, half in (("even lines, tuned on", 0), ("odd lines, shown on", 1)):
        right, wrong = (sum(line % 2 == half for line in lines) for lines in (rightly, wrongly))
        with capsys.disabled():
            print(f"\n{name}: {right} of 10 abstained rightly, {wrong} of 90 wrongly", end="")
    assert len(rightly) >= 18
    assert len(wrongly) <= 5
    assert sum(line % 2 for line in rightly) >= 9
    assert sum(line % 2 for line in wrongly) <= 3


def test_every_line_of_the_known_items_has_a_query_and_its_answers():
    lines = (Path(__file__).parent / "data" / "known-items.jsonl").read_text("utf-8").splitlines()
    assert all(set(json.loads(line)) == {"query", "answers"} for line in lines)
