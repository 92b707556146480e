"""A README → one row a section, and one row a line of a truth-card table.

Rules that hold here:

1. A heading is what a CommonMark parser calls one at the top level: none in fences, HTML, comments,
   quotes or front matter. A section runs to the next heading, whatever its level.
2. With ``excerpt = "none"`` no sentence of the section is kept: its heading path, lines, bytes, digest,
   the hosts it links to and its ten most telling single words. ``"bounded"`` adds up to 1,600 characters.
3. A row is keyed by heading path and occurrence: a section inserted elsewhere leaves its id alone.
4. Lines count from 1, the last included; bytes count from 0, the last excluded; both are of the
   payload as fetched, so that anyone can cut the section out and digest it.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from secondbrain.digests import canonical_json, sha256_bytes
from secondbrain.discovery.candidate import candidate
from secondbrain.discovery.identity import section_key, truth_card_key
from secondbrain.discovery.markdown_text import link_hosts, plain_text, source_lines, words_of
from secondbrain.discovery.payload import Payload
from secondbrain.discovery.telling_words import telling_words
from secondbrain.errors import FrontierIntegrityError
from secondbrain.wire import FrontierCandidate

if TYPE_CHECKING:
    from markdown_it.token import Token

EXCERPT_CHARACTERS = 1600
TITLE_CHARACTERS = 39
"""Most characters of a heading in a title. Contents name the headings above them, titles are public: a
run of 40 characters of one candidate's content is never another's title."""
TRUTH_CARD = "truth card"


@dataclass(frozen=True)
class _Part:
    """A run of whole lines of a README, and its tokens."""

    tokens: list["Token"]
    first_line: int
    end_line: int


@dataclass(frozen=True)
class _Section(_Part):
    """The part under one heading; the path is empty before the first heading."""

    path: tuple[str, ...]
    occurrence: int


@dataclass(frozen=True)
class _TruthCard(_Part):
    """One line of a truth-card table; the name is its first cell."""

    section: _Section
    name: str
    occurrence: int


class _Document:
    """A README's bytes, by line, and the frequencies of its words over its sections."""

    def __init__(self, data: bytes) -> None:
        self.lines = source_lines(data)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def bytes_of(self, part: _Part) -> bytes:
        return b"".join(self.lines[part.first_line : part.end_line])

    def place_of(self, part: _Part) -> tuple[str, str]:
        first, end = self.starts[part.first_line], self.starts[part.end_line]
        return f"Lines: {part.first_line + 1}-{part.end_line}", f"Bytes: {first}-{end}"


def extract_markdown(payload: Payload) -> list[FrontierCandidate]:
    """Return the rows of a README; FrontierIntegrityError if it is not UTF-8 text or has no section."""
    document = _Document(payload.data)
    sections = list(_sections(_parsed(payload), document))
    if not sections:
        raise FrontierIntegrityError(f"{payload.contract.source_id}: no section found")
    frequencies = Counter(word for section in sections for word in set(words_of(section.tokens)))
    rows = [_section_row(payload, document, section, frequencies) for section in sections]
    if payload.contract.truth_cards:
        for section in sections:
            rows += [_truth_card_row(payload, document, card, frequencies) for card in _truth_cards(section)]
    return rows


def _parsed(payload: Payload) -> list["Token"]:
    # Imported here: only a discovery run needs the parser.
    from markdown_it import MarkdownIt
    from mdit_py_plugins.front_matter import front_matter_plugin

    try:
        text = payload.data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FrontierIntegrityError(f"{payload.contract.source_id}: not UTF-8 text") from error
    parser = MarkdownIt("commonmark", {"html": True}).enable("table").use(front_matter_plugin)
    return parser.parse(text)


def _sections(tokens: list["Token"], document: _Document) -> Iterator[_Section]:
    """Cut a token stream at its top-level headings (rule 1); what is blank before the first gives nothing."""
    starts = [n for n, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0]
    bounds = [*starts, len(tokens)]
    yield from _preamble(tokens[: bounds[0]], _line_at(tokens, bounds[0], document))
    seen: Counter[tuple[str, ...]] = Counter()
    levels: list[tuple[int, str]] = []
    for start, end in pairwise(bounds):
        level = int(tokens[start].tag[1:])
        levels = [*(above for above in levels if above[0] < level), (level, plain_text(tokens[start + 1]))]
        path = tuple(heading for _, heading in levels)
        seen[path] += 1
        first_line, end_line = (_line_at(tokens, index, document) for index in (start, end))
        yield _Section(tokens[start:end], first_line, end_line, path, seen[path])


def _preamble(tokens: list["Token"], end_line: int) -> Iterator[_Section]:
    """Yield what stands before the first heading, front matter apart, if anything does."""
    first_line = 0
    if tokens and tokens[0].type == "front_matter":
        first_line = tokens[0].map[1] if tokens[0].map else 0
        tokens = tokens[1:]
    if tokens:
        yield _Section(tokens, first_line, end_line, (), 1)


def _line_at(tokens: list["Token"], index: int, document: _Document) -> int:
    """Return the line on which a top-level token begins, or the end of the document."""
    place = tokens[index].map if index < len(tokens) else None
    return place[0] if place else len(document.lines)


def _truth_cards(section: _Section) -> Iterator[_TruthCard]:
    """Yield the lines of the tables in a section whose heading says that it is a truth card."""
    if not section.path or TRUTH_CARD not in section.path[-1].casefold():
        return
    seen: Counter[str] = Counter()
    tokens, in_body = section.tokens, False
    for index, token in enumerate(tokens):
        if token.type in ("tbody_open", "tbody_close"):
            in_body = token.type == "tbody_open"
        elif token.type == "tr_open" and in_body and token.map:
            end = next(n for n in range(index, len(tokens)) if tokens[n].type == "tr_close")
            cells = tokens[index:end]
            name = plain_text(next(cell for cell in cells if cell.type == "inline"))
            seen[name] += 1
            first_line, end_line = token.map
            yield _TruthCard(cells, first_line, end_line, section, name, seen[name])


def _section_row(
    payload: Payload, document: _Document, section: _Section, frequencies: Counter[str]
) -> FrontierCandidate:
    path, occurrence = canonical_json(section.path), str(section.occurrence)
    named = [f"Heading path: {path}", f"Occurrence: {occurrence}"]
    name = section.path[-1] if section.path and section.path[-1] else payload.contract.title
    return candidate(
        payload,
        source_kind="source-document",
        stable_key=section_key(path, occurrence),
        title=f"{payload.contract.title} · {_shortened(name)}",
        content=_content(payload, document, section, named, "Section", frequencies),
    )


def _truth_card_row(
    payload: Payload, document: _Document, card: _TruthCard, frequencies: Counter[str]
) -> FrontierCandidate:
    path, occurrence = canonical_json(card.section.path), str(card.section.occurrence)
    name, row_occurrence = canonical_json(card.name), str(card.occurrence)
    named = [
        f"Heading path: {path}",
        f"Occurrence: {occurrence}",
        f"Row: {name}",
        f"Row occurrence: {row_occurrence}",
    ]
    return candidate(
        payload,
        source_kind="truth-card",
        stable_key=truth_card_key(path, occurrence, name, row_occurrence),
        title=f"{payload.contract.title} · Truth card · {_shortened(card.name or row_occurrence)}",
        content=_content(payload, document, card, named, "Row", frequencies),
    )


def _shortened(heading: str) -> str:
    """Return a heading cut to what a title holds, the cut shown."""
    if len(heading) <= TITLE_CHARACTERS:
        return heading
    return heading[: TITLE_CHARACTERS - 1].rstrip() + "…"


def _content(
    payload: Payload,
    document: _Document,
    part: _Part,
    named: list[str],
    what: str,
    frequencies: Counter[str],
) -> str:
    data = document.bytes_of(part)
    lines = [
        *named,
        *document.place_of(part),
        f"{what} SHA-256: {sha256_bytes(data)}",
        f"Link hosts: {', '.join(link_hosts(part.tokens)) or 'none'}",
        f"Telling words: {' '.join(telling_words(words_of(part.tokens), frequencies)) or 'none'}",
    ]
    if payload.contract.excerpt == "bounded":
        lines += ["", data.decode("utf-8").strip()[:EXCERPT_CHARACTERS]]
    return "\n".join(lines)
