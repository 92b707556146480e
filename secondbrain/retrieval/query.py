"""A query is ordinary text: nothing in it is FTS5 syntax, nothing in it raises.

The rules:

 1. Text that is not Unicode, or longer than MAX_CHARACTERS, is refused; white space is no query.
 2. Words are OR-ed; a word given twice counts twice, one given a thousand times counts MAX_REPEATS times:
    each repetition costs as much as a word of its own.
 3. A part in double quotes is a phrase; an unpaired quote is a blank.
 4. A compound (``POL-358``, ``grammar::fa``, ``20.04``, ``apply_secrets``) is a phrase of its parts,
    besides the parts, where it has at most MAX_COMPOUND of them.
 5. English stop words are dropped, unless nothing else is left.
 6. An alias joins a word, or a run of words, with its other spelling; both are one term.

The query is built as a small tree and printed once, as an FTS5 expression of quoted strings.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from secondbrain.digests import is_unicode
from secondbrain.errors import RetrievalBoundaryError
from secondbrain.text import STOP_WORDS, Unit, parts_of_identifier, units, words

MAX_CHARACTERS = 2000
MAX_REPEATS = 8
"""Most times that one word or phrase is searched for."""
MAX_COMPOUND = 64
"""Most parts of a compound that is a phrase: more of them are a text without blanks, no identifier."""

Tokens = Callable[[str], tuple[str, ...]]
"""What the index makes of a prepared unit: its words."""


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a query: a word with its place in the caller's text, and its other spellings."""

    text: str
    token: str
    start: int
    end: int
    aliases: tuple[tuple[str, ...], ...] = ()
    """Index words of each other spelling."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Units that stand next to each other."""

    units: tuple[str, ...]


class AliasMatch(NamedTuple):
    """An alias that joined terms of a query."""

    row: int
    terms: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """What a query asks for: terms and phrases, all OR-ed."""

    terms: tuple[Term, ...]
    """The terms that coverage counts: the words of the query, those of quoted phrases too."""
    words: tuple[str, ...]
    """The single units that are searched."""
    phrases: tuple[Phrase, ...]
    alias_matches: tuple[AliasMatch, ...]

    def expression(self) -> str:
        """Print the query as an FTS5 expression; empty where there is nothing to search for."""
        strings = [*self.words, *(" ".join(phrase.units) for phrase in self.phrases)]
        times: Counter[str] = Counter()
        kept: list[str] = []
        for string in strings:
            times[string] += 1
            if times[string] <= MAX_REPEATS:
                kept.append(f'"{string}"')
        return " OR ".join(kept)


class AliasSide(NamedTuple):
    """One spelling of an alias: the index words that call for it, and the units of the other spelling."""

    row: int
    tokens: tuple[str, ...]
    other_units: tuple[str, ...]
    other_tokens: tuple[str, ...]


def alias_sides(aliases: Iterable[tuple[int, str, str]], tokens: Tokens) -> tuple[AliasSide, ...]:
    """Prepare the rows of the alias table, both directions, longest spelling first."""
    sides: list[AliasSide] = []
    for row, term, same_as in aliases:
        here, there = _spelling(term, tokens), _spelling(same_as, tokens)
        for (_, called), (units_, words_) in ((here, there), (there, here)):
            if called and words_:
                sides.append(AliasSide(row, called, units_, words_))
    return tuple(sorted(sides, key=lambda side: (-len(side.tokens), side.row)))


def _spelling(text: str, tokens: Tokens) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the units of a spelling, and its index words without stop words, as a query keeps them."""
    found = _words(text)
    return (
        tuple(unit.text for word in found for unit in word.units),
        tuple(token for word in _kept(found) for unit in word.units for token in tokens(unit.text)),
    )


def check_text(text: object) -> str:
    """Return a query's text if it may be asked; RetrievalBoundaryError by rule 1 otherwise."""
    if not isinstance(text, str):
        raise RetrievalBoundaryError("the query is no text")
    if len(text) > MAX_CHARACTERS:
        raise RetrievalBoundaryError(
            f"the query has {len(text)} characters; at most {MAX_CHARACTERS} are taken"
        )
    if not is_unicode(text):
        raise RetrievalBoundaryError("the query holds a lone surrogate, which is no character")
    return text


def parse(text: str, tokens: Tokens, aliases: Sequence[AliasSide] = ()) -> Query:
    """Build the query of a text that passed :func:`check_text`."""
    found = _words(text)
    entries = [entry for word in _kept(found) for entry in _terms(word, tokens)]
    terms, phrases, matches = _with_aliases([term for term, _ in entries], aliases)
    quoted = _phrases(found, lambda word: word.quote)
    compounds = _phrases(found, lambda word: word.compound)
    return Query(
        terms=tuple(terms),
        words=tuple(term.text for term, quote in entries if quote < 0),
        phrases=tuple(quoted + compounds + phrases),
        alias_matches=tuple(matches),
    )


@dataclass(frozen=True, slots=True)
class _Word:
    units: tuple[Unit, ...]
    parts: tuple[str, ...]
    stop: bool
    quote: int  # number of the quoted part, -1 outside
    compound: int  # number of the blank-free piece, -1 inside quotes


def _words(text: str) -> list[_Word]:
    found: list[_Word] = []
    pieces = text.split('"')
    start = compound = 0
    for number, piece in enumerate(pieces):
        quoted = number % 2 == 1 and number < len(pieces) - 1
        last = 0
        for first, end in words(piece):
            if any(map(str.isspace, piece[last:first])) or last == 0:
                compound += 1
            last = end
            word = piece[first:end]
            found.append(
                _Word(
                    units=tuple(units(word, start + first)),
                    parts=tuple(parts_of_identifier(word)),
                    stop=word.lower() in STOP_WORDS,
                    quote=number if quoted else -1,
                    compound=-1 if quoted else compound,
                )
            )
        start += len(piece) + 1
    return found


def _kept(found: list[_Word]) -> list[_Word]:
    """Return words without stop words, unless nothing else is left (rule 5)."""
    return [word for word in found if not word.stop] or found


def _terms(word: _Word, tokens: Tokens) -> Iterable[tuple[Term, int]]:
    pieces = [*word.units, *(Unit(part, word.units[0].start, word.units[-1].end) for part in word.parts)]
    for unit in pieces:
        # The tokenizer knows fewer letters than Python does: what it makes nothing of is no term.
        for token in filter(None, tokens(unit.text)[:1]):
            yield Term(unit.text, token, unit.start, unit.end), word.quote


def _phrases(found: list[_Word], group: Callable[[_Word], int]) -> list[Phrase]:
    groups: dict[int, list[_Word]] = {}
    for word in found:
        if group(word) >= 0:
            groups.setdefault(group(word), []).append(word)
    return [
        Phrase(tuple(unit.text for word in members for unit in word.units))
        for members in groups.values()
        if members[0].quote >= 0
        or (1 < len(members) <= MAX_COMPOUND and not all(word.stop for word in members))
    ]


def _with_aliases(
    terms: list[Term], aliases: Sequence[AliasSide]
) -> tuple[list[Term], list[Phrase], list[AliasMatch]]:
    phrases: list[Phrase] = []
    matches: list[AliasMatch] = []
    present = {term.token for term in terms}
    for side in aliases:
        if side.tokens[0] not in present:
            continue
        length = len(side.tokens)
        for first in range(len(terms) - length + 1):
            if tuple(term.token for term in terms[first : first + length]) == side.tokens:
                for at in range(first, first + length):
                    terms[at] = replace(terms[at], aliases=(*terms[at].aliases, side.other_tokens))
                phrases.append(Phrase(side.other_units))
                matches.append(AliasMatch(side.row, tuple(range(first, first + length))))
    return terms, phrases, matches
