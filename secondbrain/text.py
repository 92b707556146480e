"""How text is prepared for the index, and queries in the same way.

FTS5's built-in ``porter unicode61`` tokenizer finds the words of scripts that write blanks between
them. Everything else is put into words here, so that the plain sqlite3 shell can read the index:

1. Beyond ASCII, a character that belongs to no word becomes a blank; full-width and half-width forms
   become their ordinary characters; the text is composed (Unicode NFC).
2. A run of Han, Kana or Hangul becomes its characters and its pairs of neighbours, interleaved
   (``ABC`` → ``A AB B BC C``), so that a part of a run is a phrase of the whole.
3. A run of Thai, Lao, Khmer, Burmese or Tibetan, scripts without blanks, becomes its triples of characters.
4. A word in a script with a Snowball stemmer becomes its stem; the script chooses the stemmer.
5. The parts of identifiers in mixed case stand behind the text (``OpenFile now`` → ``OpenFile now Open
   File``), so that a phrase over an identifier and its neighbours holds.
6. All other text stands as it is.

The same functions prepare text and queries: a term matches where both give the same unit.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

TOKENIZER = ("porter", "unicode61", "remove_diacritics", "1", "categories", "L* N* Co Mn Mc")
"""The FTS5 tokenizer of every index, as SQL and apsw name it. Combining marks belong to words:
without ``Mn Mc`` an Indic word falls apart at every vowel sign."""


class Unit(NamedTuple):
    """One unit of a query: what FTS5 is asked for, and where it stands in the caller's text."""

    text: str
    start: int
    end: int


_CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f"
_STEMMED = {
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "russian": "\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f",
    "armenian": "\u0531-\u058f",
    "arabic": "\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06dc\u06df-\u06e8\u06ea-\u06ef"
    "\u06fa-\u06ff\u0750-\u077f\u08a0-\u08ff",
    "hindi": "\u0900-\u0963\u0971-\u097f",
    "tamil": "\u0b80-\u0be5",
}
_WIDTH_FORMS = re.compile("[\uff01-\uffef]+")
_SPECIAL_RUN = re.compile(
    f"(?P<cjk>[{_CJK}]+)|(?P<unspaced>[{_UNSPACED}]+)|"
    + "|".join(f"(?P<{name}>[{ranges}][{ranges}\u0300-\u036f]*)" for name, ranges in _STEMMED.items())
)
# A diacritic on nothing, or on a character that is a unit by itself: unicode61 would fold what is left
# of it to a word without letters.
_DIACRITICS = "\u0300-\u036f"
_LONE_DIACRITIC = re.compile(f"(?:(?<![^\\W_])|(?<=[{_CJK}{_UNSPACED}]))[{_DIACRITICS}]+")
# A small letter or digit before a capital, or the last capital of an abbreviation before a word.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Whether a text holds one, asked of every text that is indexed: four times as fast as looking for its place.
_HOLDS_HUMP = re.compile(r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))")
# Each part of the pattern ends where the next can't start: no run of letters takes quadratic time.
_MIXED_CASE = re.compile(
    "(?<![A-Za-z0-9])"
    "(?:[a-z]?[A-Z]+[a-z]+[A-Z]|[a-z]{2,}[A-Z]|[A-Za-z]+[0-9][a-z0-9]*[a-z][A-Z]|[A-Z]{2,}[a-z]{2,})"
    "[A-Za-z0-9]*"
)


def normalized(text: str) -> str:
    """Return text by rule 1, without lone diacritics."""
    if text.isascii():
        return text
    # Blanks come first: composition takes some signs apart, into marks that would pass for words.
    text = _WIDTH_FORMS.sub(lambda run: unicodedata.normalize("NFKC", run[0]), text.translate(_BLANKS))
    return _LONE_DIACRITIC.sub("", unicodedata.normalize("NFC", text))


def prepared(text: str) -> str:
    """Return text as it is given to the FTS5 index: units parted by blanks, other text as it is."""
    text = normalized(text)
    if not text.isascii():
        text = _SPECIAL_RUN.sub(_units_of_run, text)
    return " ".join([text, *_mixed_case_parts(text)])


def units(text: str, start: int = 0) -> list[Unit]:
    """Return the index units of one word of a query, with their places in the query.

    ``text`` is a maximal run of letters, digits and marks (see :func:`words`), ``start`` its offset.
    A unit of a run of Han, Kana, Hangul or Thai spans just its characters where composition left
    the length alone, the whole word otherwise.
    """
    end = start + len(text)
    if text.isascii():
        return [Unit(text, start, end)]
    composed = normalized(text)
    # Of one length is not enough: one letter may have become two, and two others one.
    exact = composed == text or (len(composed) == len(text) and all(map(_becomes, text, composed)))
    found: list[Unit] = []
    at = 0

    def add(unit: str, first: int, last: int) -> None:
        found.append(Unit(unit, start + first, start + last) if exact else Unit(unit, start, end))

    for run in _SPECIAL_RUN.finditer(composed):
        if run.start() > at:
            add(composed[at : run.start()], at, run.start())
        for unit, first, last in _spans_of_run(run):
            add(unit, first, last)
        at = run.end()
    if at < len(composed):
        add(composed[at:], at, len(composed))
    return found


def words(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each maximal run of letters, digits and combining marks."""
    if text.isascii():
        yield from (word.span() for word in _ASCII_WORD.finditer(text))
        return
    begin = -1
    for at, character in enumerate(text):
        if _belongs_to_word(character):
            if begin < 0:
                begin = at
        elif begin >= 0:
            yield begin, at
            begin = -1
    if begin >= 0:
        yield begin, len(text)


def parts_of_identifier(word: str) -> list[str]:
    """Return the parts of a word in mixed case (``OpenFile`` → ``Open``, ``File``), else nothing."""
    if word.islower():
        return []
    return _mixed_case_parts(word if word.isascii() else _SPECIAL_RUN.sub(" ", normalized(word)))


def _mixed_case_parts(text: str) -> list[str]:
    if _HOLDS_HUMP.search(text) is None:
        return []
    return [part for word in _MIXED_CASE.findall(text) for part in _HUMP.split(word)]


_ASCII_WORD = re.compile("[0-9A-Za-z]+")


_VARIATION_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_NEVER_LETTERS = re.compile("[\ufffe\uffff\U0001f000-\U0001faff]")


@lru_cache(maxsize=4096)
def _belongs_to_word(character: str) -> bool:
    category = unicodedata.category(character)
    if category == "Cn":
        # To the tokenizer, characters that it does not know are letters. Pictographs to come are none:
        # an index should not change with the Unicode version.
        return _NEVER_LETTERS.match(character) is None
    if category == "Mn":
        return _VARIATION_SELECTORS.match(character) is None
    return category[0] in "LN" or category in ("Co", "Mc")


class _Blanks(dict[int, str]):
    """Each character beyond ASCII that belongs to no word → a blank; all others as they are.

    The tokenizer knows Unicode 6.1 and takes what is newer for letters: emoji and direction marks
    would stick to the words beside them.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = kept = character if code < 0x80 or _belongs_to_word(character) else " "
        return kept


_BLANKS = _Blanks()


def _becomes(character: str, other: str) -> bool:
    return character == other or normalized(character) == other


def _units_of_run(run: re.Match[str]) -> str:
    return " ".join(["", *(unit for unit, _, _ in _spans_of_run(run)), ""])


def _spans_of_run(run: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    """Yield (unit, start, end) for a run of one script."""
    kind, text, start = run.lastgroup or "", run[0], run.start()
    if kind == "cjk":
        for at in range(len(text)):
            yield text[at], start + at, start + at + 1
            if at + 1 < len(text):
                yield text[at : at + 2], start + at, start + at + 2
    elif kind == "unspaced":
        for at in range(max(1, len(text) - 2)):
            yield text[at : at + 3], start + at, start + min(at + 3, len(text))
    else:
        # An Arabic stretching sign alone has no stem, and a stem may be all diacritics.
        if stem := _LONE_DIACRITIC.sub("", _stemmer(kind)(text.lower())):
            yield stem, start, run.end()


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    import Stemmer  # only where such a script occurs: most processes never need it

    return lru_cache(maxsize=65536)(Stemmer.Stemmer(language).stemWord)


# Function words of English, by kind. A query drops them unless nothing else is left; the index keeps
# them, so that phrases hold. Content words such as "own" or "first" are not among them.
STOP_WORDS = frozenset(
    (  # noqa: SIM905 - quoted one by one, the words would hide their kinds
        # articles, determiners, quantifiers
        "a an the this that these those some any each every either neither both all no none such same "
        "other another few more most much many several "
        # pronouns and possessives
        "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his "
        "himself she her hers herself it its itself they them their theirs themselves one "
        # questions and relatives
        "what which who whom whose when where why how whether "
        # auxiliaries
        "am is are was were be been being do does did doing done have has had having can could may might "
        "must shall should will would ought cannot "
        # conjunctions and adverbs without content
        "and or but nor so if then else than because while until although though unless as since not only "
        "just too very also again ever here there now yet still quite rather "
        # prepositions
        "of at by for with about against between among into through during before after above below to "
        "from up down in out on off over under onto upon within without per via toward towards across "
        "along around "
        # what an apostrophe leaves behind
        "s t d m ll re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn shouldn couldn "
        "mustn needn ain"
    ).split()
)
"""English words that a query drops, unless it holds nothing else (about 180)."""
