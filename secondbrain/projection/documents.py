"""Markdown documents → projection rows, one row a heading.

The rules:

 1. Every ``*.md`` file below the folder takes part, in the order of its path, unless its front matter
    says ``projection: false``. Linked folders are not entered, and are reported.
 2. A section is what stands between a heading and the next one of any level, as a CommonMark parser
    sees headings: a ``#`` in a fence, a quote or a list is none. Text before the first heading is a
    section under the document's title. A heading without text makes no row, and is reported unless
    headings below it have some.
 3. A section longer than ``max_characters`` is split between blocks (paragraphs, lists, fences,
    tables); a block is never split.
 4. ``source`` is the front matter's, else the file's path without suffix; ``sourceId`` is the
    heading's or front matter's, else the file's path.
 5. An id is ``PATH#HEADING/HEADING``, slugs of the headings above, with ``-2`` for the second section
    of one name, with or without text. A heading may give its own: ``## Title {#name}``; with a colon in
    it, it stands as it is, otherwise it is ``PATH#name``. The second part of a split section adds
    ``:2``. So an id changes only with its own headings, never with a neighbour's text.
 6. ``derived_from`` may stand in the heading's attributes: ``{#a:1 derived_from="…"}``.
"""

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.attrs.parse import ParseError, parse
from mdit_py_plugins.front_matter import front_matter_plugin

from secondbrain.digests import is_sha256, sha256_text
from secondbrain.errors import CorpusIntegrityError
from secondbrain.projection.admission import Row, text_fault

MAX_CHARACTERS = 2000
"""Longest section that stays one row, in characters: about 300 English words."""
_ATTRIBUTES = re.compile(r"(\{[^{}]*\})\s*$")
_FRONT_MATTER_KEYS = ("title", "source", "sourceId", "projection")
"""What is read there; other tools keep other names."""
_HEADING_KEYS = frozenset({"id", "class", "sourceId", "derived_from"})


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a document: its title, attributes, heading path and blocks of source text."""

    title: str
    attributes: dict[str, str]
    path: tuple[str, ...]
    line: int
    blocks: tuple[str, ...]


@dataclass(slots=True)
class Harvest:
    """The rows of a folder, and what made none: one line each, for a person to read."""

    rows: list[Row] = field(default_factory=list)
    documents: int = 0
    notes: list[str] = field(default_factory=list)


def harvest(folder: Path, *, max_characters: int = MAX_CHARACTERS) -> Harvest:
    """Read every Markdown document below a folder into rows.

    Raises CorpusIntegrityError, naming file and line, for a file that cannot be read as UTF-8
    Markdown, for front matter that is no mapping, for an unknown heading attribute, for a row that
    admission would refuse, and where two sections ask for one id.
    """
    if not folder.is_dir():
        raise CorpusIntegrityError(f"{folder}: no such folder")
    found = Harvest()
    places: dict[str, str] = {}
    for name, path in sorted(_documents(folder, found)):
        front, sections = document(path, name)
        if front.get("projection") == "false":
            continue
        found.documents += 1
        for row, line in _rows(name, front, sections, max_characters, found):
            place = f"{name}, line {line}"
            if row.id in places:
                raise CorpusIntegrityError(
                    f"{folder}/{place}: id {row.id!r} stands already at {places[row.id]}; "
                    "give one of the headings its own: {#name}"
                )
            if (fault := _fault(row)) is not None:
                raise CorpusIntegrityError(f"{folder}/{place}: {fault}")
            places[row.id] = place
            found.rows.append(row)
    if not found.rows:
        raise CorpusIntegrityError(f"{folder}: no Markdown document with text in it")
    return found


def _documents(folder: Path, found: Harvest) -> Iterator[tuple[str, Path]]:
    def unreadable(error: OSError) -> None:
        raise CorpusIntegrityError(f"{error.filename}: cannot be read: {error.strerror}")

    for at, folders, files in os.walk(folder, onerror=unreadable):
        place = Path(at)
        linked = sorted(name for name in folders if (place / name).is_symlink())
        found.notes += [
            f"{(place / name).relative_to(folder).as_posix()}: linked folder, not entered" for name in linked
        ]
        for path in (place / name for name in files if name.endswith(".md")):
            yield path.relative_to(folder).as_posix(), path


def _fault(row: Row) -> str | None:
    """Say what admission would refuse in a row."""
    fields = {
        "id": row.id,
        "source": row.source,
        "sourceId": row.source_id,
        "title": row.title,
        "text": row.text,
    }
    for name, value in fields.items():
        if (fault := text_fault(name, value)) is not None:
            return fault
    if row.derived_from is not None and not is_sha256(row.derived_from):
        return "derived_from is not 64 lower-case hexadecimal digits"
    return None


def document(path: Path, name: str) -> tuple[dict[str, str], list[Section]]:
    """Parse one document; return its front matter and its sections in order.

    ``name`` is what messages call the file. Raises CorpusIntegrityError as :func:`harvest` does.
    """
    try:
        source = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise CorpusIntegrityError(f"{path}: not UTF-8") from None
    except OSError as error:
        raise CorpusIntegrityError(f"{path}: cannot be read: {error.strerror}") from None
    if "\0" in source:
        raise CorpusIntegrityError(f"{path}: holds a NUL character")
    # The parser counts lines by these three ends and no other; so must the slices below.
    source = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    tokens = _parser().parse(source)
    lines = source.split("\n")
    front = _front_matter(path, tokens, lines)
    title = front.get("title") or name.removesuffix(".md")
    return front, list(_sections(path, title, lines, tokens))


def slug(title: str) -> str:
    """Return a heading as a slug: lower case, letters, digits and marks, ``-`` for all else."""
    folded = unicodedata.normalize("NFC", title).lower()
    kept = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else "-" for c in folded)
    return re.sub("-+", "-", kept).strip("-") or "section"


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").use(front_matter_plugin)


def _front_matter(path: Path, tokens: list[Token], lines: list[str]) -> dict[str, str]:
    if not tokens or tokens[0].type != "front_matter":
        if lines[0].rstrip() == "---":
            raise CorpusIntegrityError(
                f"{path}: front matter is never closed; close it with ---, or draw a line with ***"
            )
        return {}
    try:
        # Every value as it is written: YAML would read "no", 1.10 or a date as something else.
        front: object = yaml.load(tokens[0].content, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise CorpusIntegrityError(
            f"{path}: front matter is no YAML: {' '.join(str(error).split())}"
        ) from None
    if front is None:
        return {}
    if not isinstance(front, dict):
        raise CorpusIntegrityError(f"{path}: front matter is no mapping of names to values")
    known = {name: front[name] for name in _FRONT_MATTER_KEYS if name in front}
    for name, value in known.items():
        if not isinstance(value, str):
            raise CorpusIntegrityError(f"{path}: front matter's {name} is no text")
    if known.get("projection", "false") not in ("true", "false"):
        raise CorpusIntegrityError(
            f"{path}: front matter's projection is {known['projection']!r}: true or false"
        )
    return known


def _sections(path: Path, title: str, lines: list[str], tokens: list[Token]) -> Iterator[Section]:
    above: list[tuple[int, str]] = []  # levels and slugs of the headings that hold this place
    current = Section(title, {}, (), 1, ())
    starts: list[int] = []  # lines on which the blocks of the current section start
    body = 0

    def closed(end: int) -> Section:
        return Section(
            current.title, current.attributes, current.path, current.line, _blocks(lines, body, starts, end)
        )

    for at, token in enumerate(tokens):
        if token.level != 0 or token.map is None or token.nesting < 0:
            continue
        if token.type == "front_matter":
            body = token.map[1]
        elif token.type == "heading_open":
            yield closed(token.map[0])
            body, starts = token.map[1], []
            text, attributes = _heading(path, token.map[0] + 1, tokens[at + 1].content)
            level = int(token.tag[1])
            above = [(depth, name) for depth, name in above if depth < level] + [(level, slug(text))]
            current = Section(text, attributes, tuple(name for _, name in above), token.map[0] + 1, ())
        else:
            starts.append(token.map[0])
    yield closed(len(lines))


def _blocks(lines: list[str], start: int, starts: list[int], end: int) -> tuple[str, ...]:
    # What stands before the first block (link definitions have no token) belongs to it.
    edges = [start, *starts[1:], end]
    texts = ("\n".join(lines[a:b]).strip("\n").rstrip() for a, b in pairwise(edges))
    return tuple(text for text in texts if text.strip())


def _heading(path: Path, line: int, content: str) -> tuple[str, dict[str, str]]:
    attributes: dict[str, str] = {}
    if (found := _ATTRIBUTES.search(content)) is not None:
        try:
            _, attributes = parse(found[1])
        except ParseError as error:
            if found[1].startswith("{#"):
                raise CorpusIntegrityError(f"{path}, line {line}: heading attributes: {error}") from None
        if attributes:  # otherwise they are braces of the title itself, as in a route
            content = content[: found.start()]
    if unknown := sorted(attributes.keys() - _HEADING_KEYS):
        raise CorpusIntegrityError(
            f"{path}, line {line}: unknown heading attribute {', '.join(unknown)}; "
            "known are id, sourceId, derived_from"
        )
    inline = _parser().parseInline(content)[0].children or []
    text = "".join(" " if token.type in ("softbreak", "hardbreak") else token.content for token in inline)
    return " ".join(text.split()) or "Untitled", attributes


def _rows(
    name: str, front: dict[str, str], sections: list[Section], max_characters: int, found: Harvest
) -> Iterator[tuple[Row, int]]:
    stem = name.removesuffix(".md")
    times: dict[str, int] = {}
    for section, following in zip(sections, [*sections[1:], None], strict=True):
        own = section.attributes.get("id")
        node_id = stem
        if own is not None:
            node_id = own if ":" in own else f"{stem}#{own}"
        elif section.path:
            node_id = f"{stem}#{'/'.join(section.path)}"
            # Counted before the text is looked at: an id never depends on a neighbour's text.
            times[node_id] = times.get(node_id, 0) + 1
            if times[node_id] > 1:
                node_id = f"{node_id}-{times[node_id]}"
        if not section.blocks:
            if own is not None:
                raise CorpusIntegrityError(
                    f"{name}, line {section.line}: section {own!r} has an id but no text"
                )
            below = following.path[: len(section.path)] if following else ()
            if section.path and below != section.path:  # a heading over other headings needs no text
                found.notes.append(f"{name}, line {section.line}: heading without text, no row")
            continue
        for part, text in enumerate(_parts(section.blocks, max_characters), 1):
            yield (
                Row(
                    position=len(found.rows),
                    id=node_id if part == 1 else f"{node_id}:{part}",
                    source=front.get("source") or stem,
                    source_id=section.attributes.get("sourceId") or front.get("sourceId") or name,
                    title=section.title,
                    text=text,
                    sha256=sha256_text(text),
                    derived_from=section.attributes.get("derived_from"),
                ),
                section.line,
            )


def _parts(blocks: tuple[str, ...], max_characters: int) -> Iterator[str]:
    part = ""
    for block in blocks:
        if part and len(part) + 2 + len(block) > max_characters:
            yield part
            part = block
        else:
            part = f"{part}\n\n{block}" if part else block
    yield part
