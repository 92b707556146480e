"""Texts and queries are prepared alike: what stands in a text is found, in every script."""

import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable

import apsw
import pytest
from conftest import row
from hypothesis import given
from hypothesis import strategies as st

from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.store.opened import Store
from secondbrain.text import STOP_WORDS, TOKENIZER, normalized, parts_of_identifier, prepared, units, words

_TOKENIZER = apsw.Connection(":memory:").fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))


def tokens(text: str) -> list[str]:
    """What FTS5 makes of a prepared text."""
    return list(
        _TOKENIZER(
            text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
        )
    )


def tokens_of_units(text: str) -> list[str]:
    return [
        token for first, end in words(text) for unit in units(text[first:end]) for token in tokens(unit.text)
    ]


# Letters and marks of many scripts, and what was seen to break: marks on nothing and on characters that
# stand alone, signs younger than the tokenizer, signs that composition takes apart, odd capitals.
PIECES = [
    *"aB9zéßİıſKΩάςяЙёÅŉǅ\u0301\u0300\u0338\u0345\u0344",
    *"中国한ㅎ\u1100\u1161がカｶﾞＡａ１ー々〇葛\U000e0100",
    *"เกมา\u0e33ລາວខ្មែរབོད་༁မြန်မာ฿",
    *"ՙեւ\u0640عربيةہ\u0651हिन्दीதமிழ்שָלוֹםগুজ",
    *"ﬁ²Ⅷ①½𐐀𝒜\ue000\u0903\u1ab0\u20dd\ufe0f\u200d\u200c\u00ad\u2067\u2069",
    *"🤖🦀😀❤👩\U0001d160\U0001d1bb\ufffe\U00044e79\U0001faf9₿",
    *" _-·'\".:=<≠∈,\n",
]
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=9).map("".join), st.text(max_size=30))
ALL_CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]


@given(TEXTS)
def test_the_words_of_a_text_are_phrases_of_its_index(text: str) -> None:
    index = " ".join(["", *tokens(prepared(text)), ""])
    for first, end in words(text):
        if asked := [token for unit in units(text[first:end]) for token in tokens(unit.text)]:
            assert " ".join(["", *asked, ""]) in index


@given(TEXTS)
def test_units_and_parts_are_all_that_the_index_holds_of_a_word(text: str) -> None:
    for first, end in words(text):
        word = text[first:end]
        parts = [token for part in parts_of_identifier(word) for token in tokens(part)]
        assert Counter(tokens(prepared(word))) == Counter(tokens_of_units(word) + parts)


@given(TEXTS)
def test_a_whole_text_is_its_words_in_order_and_the_parts_behind(text: str) -> None:
    asked = tokens_of_units(text)
    assert tokens(prepared(text))[: len(asked)] == asked


@given(TEXTS)
def test_no_word_is_empty(text: str) -> None:
    assert all(token.strip() for token in tokens(prepared(text)))
    assert all(unit.text for first, end in words(text) for unit in units(text[first:end]))


@given(TEXTS, st.integers(0, 100))
def test_spans_lie_inside_the_word_in_order(text: str, offset: int) -> None:
    for first, end in words(text):
        last = first
        for unit in units(text[first:end], first + offset):
            assert first + offset <= unit.start < unit.end <= end + offset
            assert unit.start - offset >= last or unit.start - offset == first
            last = unit.start - offset


@given(TEXTS)
def test_every_spelling_of_one_text_is_prepared_alike(text: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert tokens(prepared(composed)) == tokens(prepared(decomposed))


@given(TEXTS)
def test_normalizing_twice_changes_nothing(text: str) -> None:
    assert normalized(normalized(text)) == normalized(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "around", ["{}", "a{}", "{}a", "a{}b", " {} ", "я{}", "中{}", "ก{}", "{}\u0301", "{}я", "_{}"]
)
def test_every_character_of_unicode_in_every_surrounding(around: str) -> None:
    for character in ALL_CHARACTERS:
        text = around.format(character)
        found = tokens(prepared(text))
        assert all(token.strip() for token in found), ascii(text)
        assert tokens_of_units(text) == found, ascii(text)


def test_every_character_that_is_no_plain_letter_beside_a_word() -> None:
    """The fast part of the test above: no ideograph, syllable, private or unassigned character."""
    for character in ALL_CHARACTERS:
        if unicodedata.category(character) not in ("Lo", "Co", "Cn"):
            for text in f"a{character}b", f"{character}\u0301":
                found = tokens(prepared(text))
                assert tokens_of_units(text) == found, ascii(text)
                assert all(token.strip() for token in found), ascii(text)


# The rules, by example


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("Receipts chained", ["receipt", "chain"]),
        ("Ｆｕｌｌ　ｗｉｄｔｈ１２", ["full", "width12"]),
        ("ﾊﾟｿｺﾝ", ["パ", "パソ", "ソ", "ソコ", "コ", "コン", "ン"]),
        ("中文合約", ["中", "中文", "文", "文合", "合", "合約", "約"]),
        ("한국어", ["한", "한국", "국", "국어", "어"]),
        ("เกมคอม", ["เกม", "กมค", "มคอ", "คอม"]),
        ("ก", ["ก"]),
        ("договоры", ["договор"]),
        ("Ελλάδα", ["ελλαδ"]),
        ("OpenFile now", ["openfil", "now", "open", "file"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("v2 of sha256Sum", ["v2", "of", "sha256sum"]),
        ("Rust🦀 done✅ ok🫡", ["rust", "done", "ok"]),
        ("\u2067שלום\u2069", ["שלום"]),
        ("한\u0301글", ["한", "한글", "글"]),
        ("x\u0301 _\u0345K \u0301", ["x", "k"]),
        ("naïve NAÏVE nai\u0308ve", ["naiv", "naiv", "naiv"]),
    ],
)
def test_a_text_is_indexed_as(text: str, index: list[str]) -> None:
    assert tokens(prepared(text)) == index


@pytest.mark.parametrize(
    ("word", "spans"),
    [
        ("abc", [("abc", 5, 8)]),
        ("中文x", [("中", 5, 6), ("中文", 5, 7), ("文", 6, 7), ("x", 7, 8)]),
        ("e\u0301a", [("éa", 5, 8)]),
        ("договоры", [("договор", 5, 13)]),
        ("\u0640", []),
    ],
)
def test_a_word_of_a_query_becomes(word: str, spans: list[tuple[str, int, int]]) -> None:
    assert units(word, 5) == spans


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("OpenFile", ["Open", "File"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("getHTTPServer2Go", ["get", "HTTP", "Server2", "Go"]),
        ("中OpenFile", ["Open", "File"]),
        ("ＯｐｅｎＦｉｌｅ", ["Open", "File"]),
        ("openfile", []),
        ("Open", []),
        ("README", []),
        ("A11OY", []),
        ("F18", []),
        ("IDs", []),
    ],
)
def test_an_identifier_has_the_parts(word: str, parts: list[str]) -> None:
    assert parts_of_identifier(word) == parts


@given(st.text("abAB01", max_size=12))
def test_parts_are_those_of_the_plain_rule(word: str) -> None:
    """The rule as one would write it without minding time; the library's pattern must agree."""
    plain = r"[A-Za-z]+[0-9]*[a-z0-9]*[a-z][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z]{2,}[A-Za-z0-9]*"
    hump = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    assert parts_of_identifier(word) == (re.split(hump, word) if re.fullmatch(plain, word) else [])


@pytest.mark.parametrize("unit", ["a", "A", "a1", "1", "aB", "Ab", "_", "中", "ก", "я", "\u0301", "🦀", " a"])
def test_time_grows_with_the_length_alone(unit: str) -> None:
    """Quadratic time would take minutes here; a generous bound keeps a busy machine from failing."""
    start = time.process_time()
    prepared("aB " + unit * 128_000 + "!")
    parts_of_identifier("A" + unit * 128_000)
    assert time.process_time() - start < 5


def test_stop_words_are_lower_case_and_single() -> None:
    assert all(word == word.lower() and list(words(word)) == [(0, len(word))] for word in STOP_WORDS)
    assert not STOP_WORDS & {"own", "first", "lock", "receipt"}


# Through a real file

SCRIPTS = {
    "english": "Each receipt is chained; GitHub Actions wait for OpenFile handles.",
    "emoji": "The crate is Rust🦀native and done🤖.",
    "chinese": "公開的語料庫沒有私人節點。",
    "japanese": "領収書は前のハッシュに連鎖します。",
    "korean": "영수증은 이전 해시에 연결됩니다.",
    "thai": "ใบเสร็จแต่ละใบเชื่อมโยงกัน",
    "khmer": "បង្កាន់ដៃនីមួយៗ",
    "russian": "Каждая квитанция связана с предыдущей.",
    "greek": "Κάθε απόδειξη συνδέεται με την προηγούμενη.",
    "arabic": "كل إيصال مرتبط بما قبله.",
    "hebrew": "\u2067כל קבלה קשורה לקודמת.\u2069",
    "hindi": "हर रसीद पिछली से जुड़ी है।",
    "tamil": "ஒவ்வொரு ரசீதும் இணைக்கப்பட்டுள்ளது.",
    "bengali": "প্রতিটি রসিদ আগেরটির সাথে যুক্ত।",
    "armenian": "Յուրաքանչյուր անդորրագիր կապված է։",
    "vietnamese": "Mỗi biên nhận được nối với biên nhận trước.",
}


@pytest.fixture
def scripts(make_store: Callable[[Iterable[dict[str, str]]], Store]) -> HybridSecondBrain:
    return HybridSecondBrain(make_store(row(name, text) for name, text in SCRIPTS.items()))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_query_of_any_word_of_a_text_finds_the_text(scripts: HybridSecondBrain, name: str) -> None:
    text = SCRIPTS[name]
    for first, end in words(text):
        for query in text[first:end], f'"{text[first:end]}"', unicodedata.normalize("NFD", text[first:end]):
            handles = scripts.context(query, k=12)["handles"]
            assert name in [handle["nodeId"] for handle in handles], query


@pytest.mark.parametrize(
    "query", ['"GitHub Actions"', '"github actions wait"', '"git hub"', '"for openfile handles"']
)
def test_a_phrase_over_an_identifier_and_its_neighbours_holds(scripts: HybridSecondBrain, query: str) -> None:
    assert [handle["nodeId"] for handle in scripts.context(query)["handles"]] == ["english"]
