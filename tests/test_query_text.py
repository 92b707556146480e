"""Query text is ordinary text: whatever is typed is searched for, in bounded time, or refused by name."""

import time

import pytest
from conftest import ROWS, row
from hypothesis import example, given, settings
from hypothesis import strategies as st

from secondbrain import HybridSecondBrain, RetrievalBoundaryError, retrieve
from secondbrain.retrieval import query as query_module
from secondbrain.retrieval.query import MAX_REPEATS, parse
from secondbrain.text import prepared

ANY_CHARACTER = st.characters()  # lone surrogates too
FTS5_PIECES = st.sampled_from(
    [
        '"',
        "'",
        "*",
        "^",
        "(",
        ")",
        "{",
        "}",
        "+",
        "-",
        ":",
        "\0",
        "NEAR(",
        "AND",
        "OR",
        "NOT",
        "title:",
        "{a b}:",
        ", 5)",
        "receipt",
        "Λ",
        "中文",
        "เกม",
        "e\u0301",
        "ﾊﾟ",
        "OpenFile",
        "\u200b",
        "\ufeff",
        "\u0640",
        "🧠",
        "\u0301",
    ]
)
ANY_TEXT = st.one_of(st.text(ANY_CHARACTER, max_size=60), st.lists(FTS5_PIECES, max_size=30).map("".join))


@pytest.fixture(scope="module")
def brain(tmp_path_factory):
    from conftest import write_projection

    from secondbrain import Store
    from secondbrain.store.build import build

    folder = tmp_path_factory.mktemp("query-text")
    return HybridSecondBrain(Store(build(write_projection(folder / "p.jsonl", ROWS), folder / "s.db").path))


@given(text=ANY_TEXT)
@example(text='"\u0640"')  # a quoted stretching sign: a phrase without a unit
@example(text='""""')
@example(text="\ud800")
@settings(max_examples=400)
def test_no_query_text_raises_anything_but_a_refusal(brain, text):
    try:
        context = brain.context(text)
    except RetrievalBoundaryError:
        assert any("\ud800" <= character <= "\udfff" for character in text)
        return
    assert (context["state"] == "ABSTAIN_NO_QUERY") == (not text.strip())
    assert retrieve(text, store=brain.store)["query_sha256"] == context["query_sha256"]


@pytest.mark.parametrize("query", [None, 7, b"receipt", ["receipt"]])
def test_a_query_that_is_no_text_is_refused(brain, query):
    with pytest.raises(RetrievalBoundaryError, match="no text"):
        brain.context(query)


def test_2000_characters_are_taken_and_2001_refused(brain):
    assert brain.context(("receipt " * 250)[:2000])["ready"]
    with pytest.raises(RetrievalBoundaryError, match="2001 characters; at most 2000"):
        brain.context("r" * 2001)


LONGEST = {
    "single letters": " ".join("abcdefghijklmnopqrstuvwxyz"[at % 26] for at in range(1000)),
    "one letter": "a " * 1000,
    "a compound of one letter": "-".join("a" * 1000),
    "one letter, quoted": '"a"' * 666,
    "thousands of Han units": "".join(chr(0x4E00 + at) for at in range(2000)),
    "one Han unit": "合" * 2000,
    "a quoted run of Han": '"' + "合約" * 999 + '"',
    "Thai": "เกม" * 666,
    "letters and marks": "e\u0301" * 1000,
    "mixed case": "aB" * 1000,
}


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A corpus of the packaged one's size in which the words of the longest queries stand everywhere."""
    from conftest import write_projection

    from secondbrain import Store
    from secondbrain.store.build import build

    letters = " ".join("abcdefghijklmnopqrstuvwxyz")
    text = f"{letters} {letters} 中文合約轉換體驗課 เกมคอมพิวเตอร์ é aB"
    folder = tmp_path_factory.mktemp("crowded")
    rows = [row(f"n:{at:04}", f"{text} {at}") for at in range(575)]
    return HybridSecondBrain(Store(build(write_projection(folder / "p.jsonl", rows), folder / "s.db").path))


@pytest.mark.parametrize("name", LONGEST)
def test_the_longest_queries_end_in_bounded_time(crowded, name):
    assert len(LONGEST[name]) <= 2000
    crowded.context("warm")
    started = time.process_time()
    crowded.context(LONGEST[name], k=12)
    spent = time.process_time() - started
    print(f"{name}: {spent * 1000:.0f} ms")
    assert spent < 1.0  # the store's deadline is 2 s of wall time; each takes under .15 s on a quiet core


def test_without_a_bound_on_repeats_a_short_query_takes_a_hundred_times_its_time(crowded, monkeypatch):
    def spent():
        started = time.process_time()
        crowded.context("a " * 200)
        return time.process_time() - started

    bounded = min(spent() for _ in range(3))
    monkeypatch.setattr(query_module, "MAX_REPEATS", 1000)
    assert spent() > 2 * bounded


def only_tokens(text):
    return tuple(text.lower().split())


def test_a_word_given_twice_counts_twice_and_a_word_given_often_counts_so_often():
    assert parse("ledger ledger", only_tokens).expression() == '"ledger" OR "ledger"'
    assert parse("ledger " * 100, only_tokens).expression().count('"ledger"') == MAX_REPEATS
    assert len(parse("ledger " * 100, only_tokens).terms) == 100


def test_a_text_without_blanks_is_no_phrase():
    assert '"a b c"' in parse("a-b-c", only_tokens).expression()
    assert '"w0 w1' not in parse("-".join(f"w{at}" for at in range(65)), only_tokens).expression()


PLACED = {
    "ascii": ("The run ledger keeps", "ledger", "ledger"),
    "chinese": ("請看 合約轉換", "合約", "合約"),
    "thai": ("see เกมคอม now", "เกม", "เกม"),
    "decomposed accent": ("the cafe\u0301 closed", "café", "cafe\u0301"),
    "decomposed accent before a word": ("cafe\u0301 ledger", "ledger", "ledger"),
    "half-width kana": ("ﾊﾟｽ", "パ", "ﾊﾟｽ"),  # two signs became one: the place is the whole word
    "full width": ("ＡＢＣ runs", "abc", "ＡＢＣ"),
    "one letter became two and two became one": ("\u0958e\u0301x", "\u0915\u093c", "\u0958e\u0301x"),
    "identifier": ("call OpenFile here", "OpenFile", "OpenFile"),
    "part of an identifier": ("call OpenFile here", "File", "OpenFile"),
    "snake case": ("call apply_secrets here", "secrets", "secrets"),
    "behind an emoji": ("🧠🧠 ledger", "ledger", "ledger"),
    "in quotes": ('say "run ledger" twice', "ledger", "ledger"),
}


@pytest.mark.parametrize("name", PLACED)
def test_places_lead_back_to_the_callers_own_words(brain, name):
    query, wanted, written = PLACED[name]
    reader = brain.store.reader()
    [token] = reader.tokens(max(prepared(wanted).split(), key=len))
    found = parse(query, reader.tokens)
    places = {query[term.start : term.end] for term in found.terms if term.token == token}
    assert places == {written}


@given(text=st.text(max_size=40))
def test_every_place_lies_within_the_query_and_holds_a_letter_or_digit(brain, text):
    reader = brain.store.reader()
    for term in parse(text, reader.tokens).terms:
        assert 0 <= term.start < term.end <= len(text)
        assert term.token


@given(text=st.text(st.sampled_from("abcé中文เกมΛслово 12-_."), min_size=1, max_size=30))
@settings(max_examples=25)
def test_a_text_is_found_by_itself(make_store_once, text):
    if not text.strip():
        return
    brain = make_store_once(text)
    context = brain.context(text)
    if context["ranking_receipt"]["terms"]:
        assert [handle["nodeId"] for handle in context["handles"]] == ["own"]


@pytest.fixture(scope="module")
def make_store_once(tmp_path_factory):
    from conftest import write_projection

    from secondbrain import Store
    from secondbrain.store.build import build

    def make(text):
        folder = tmp_path_factory.mktemp("own")
        rows = [row("other", "nothing of it is here"), row("own", text)]
        return HybridSecondBrain(
            Store(build(write_projection(folder / "p.jsonl", rows), folder / "s.db").path)
        )

    return make
