"""The Map view: every chunk as one mark, grouped by source and document, lit by a ranking.

Marks flow like words on a line: the chunks of a document stand close together, documents apart. A
document of NAMED_FROM chunks or more begins its own lines under its name. The picture is the same for the
same generation; a query only lights it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

from secondbrain import wire
from secondbrain.retrieval.handles import handle
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.retrieval.query import check_text
from secondbrain.retrieval.ranking import rank
from secondbrain.store.opened import Reader

MOST_MARKS = 6000
"""Above this a picture of single chunks helps nobody, and is not drawn."""
CELL = 12
GAP = 2
BETWEEN = 6
LINE = 18
WIDTH = 342
NAMED_FROM = 8
NAME_HEIGHT = 20
COLUMN_GAP = 30
MARGIN = 24
HEAD = 74
SOURCE_HEAD = 28
SMALL_COLUMNS = 28
SMALL_NAME = 20

Light = Literal["selected", "near", "far", "faint"]


class Mark(NamedTuple):
    """One chunk of the picture."""

    ordinal: int
    handle: wire.Handle
    x: int
    y: int


class Thread(NamedTuple):
    """The line under neighbouring chunks of one document."""

    x: int
    y: int
    length: int


class Name(NamedTuple):
    """A document's name above its marks."""

    text: str
    y: int


@dataclass(frozen=True)
class Shelf:
    """One source: its documents' marks in one column."""

    source: str
    documents: int
    marks: list[Mark]
    threads: list[Thread]
    names: list[Name]
    height: int


@dataclass(frozen=True)
class Atlas:
    """The picture of one generation."""

    generation_sha256: str
    chunks: int
    documents: int
    shelves: list[Shelf]


class Lit(NamedTuple):
    """A candidate of the query's ranking."""

    place: int
    handle: wire.Handle
    selected: int | None
    """Its place among the handles that were given, where it is one."""


@dataclass(frozen=True)
class Lighting:
    """How a ranking lights the picture."""

    state: wire.ContextState
    by_ordinal: dict[int, Light]
    numbers: dict[int, int]
    """Ordinal → place among the handles that were given."""
    lit: list[Lit]

    def of(self, ordinal: int) -> str:
        """Return how a mark is drawn: lit by its rank; else ``none``, or ``rest`` where nothing was asked."""
        return self.by_ordinal.get(ordinal, "rest" if self.state == "ABSTAIN_NO_QUERY" else "none")


NO_LIGHT = Lighting("ABSTAIN_NO_QUERY", {}, {}, [])


class Block(NamedTuple):
    """One source of the small picture, under its name."""

    source: str
    chunks: int
    name_y: int


class SmallPicture(NamedTuple):
    """The picture that stands beside an answer: one path for all marks that are drawn alike."""

    width: int
    height: int
    blocks: list[Block]
    paths: dict[str, str]
    """Style of the marks → their path."""


class PlacedShelf(NamedTuple):
    """A shelf in the one picture that is saved."""

    shelf: Shelf
    x: int
    y: int


class Sheet(NamedTuple):
    """The one picture that is saved."""

    width: int
    height: int
    shelves: list[PlacedShelf]


def atlas(reader: Reader) -> Atlas | None:
    """Return the picture of a reader's generation, laid out once; None above MOST_MARKS chunks."""
    if reader.snapshot.chunk_count > MOST_MARKS:
        return None
    drawn: Atlas | None = reader.memo.get("page_atlas")
    if drawn is None:
        handles = [
            (ordinal, handle(reader, ordinal)) for ordinal in range(1, reader.snapshot.chunk_count + 1)
        ]
        drawn = reader.memo["page_atlas"] = lay_out(reader.snapshot.generation_sha256, handles)
    return drawn


def lay_out(generation_sha256: str, handles: Iterable[tuple[int, wire.Handle]]) -> Atlas:
    """Group handles by source and document, in the order of names, and give each its place."""
    ordered = sorted(handles, key=lambda one: (one[1]["source"], one[1]["sourceId"], one[0]))
    shelves = [
        _shelf(source, list(members)) for source, members in groupby(ordered, lambda one: one[1]["source"])
    ]
    return Atlas(generation_sha256, len(ordered), sum(shelf.documents for shelf in shelves), shelves)


def lighting(brain: HybridSecondBrain, reader: Reader, query: str, k: int) -> Lighting:
    """Light the candidates of a query: the k that would be given, and those that stand behind them.

    An abstention lights its candidates too, none of them as given. Raises as
    :meth:`HybridSecondBrain.context` does.
    """
    if not check_text(query).strip():
        return NO_LIGHT
    ranking = rank(reader, query, brain.plan)
    given = ranking.selected(reader, k, brain.plan.per_source_limit)
    numbers = {ordinal: place for place, (ordinal, _) in enumerate(given, 1)}
    order = [ordinal for ordinal, _ in ranking.order or ranking.fused]
    return Lighting(
        state="GROUNDED_HANDLES_READY" if given else "ABSTAIN_NO_GROUNDED_HANDLES",
        by_ordinal={ordinal: _light(place, ordinal in numbers) for place, ordinal in enumerate(order, 1)},
        numbers=numbers,
        lit=[
            Lit(place, ranking.handle(reader, ordinal), numbers.get(ordinal))
            for place, ordinal in enumerate(order, 1)
        ],
    )


def sheet(drawn: Atlas) -> Sheet:
    """Place the shelves in one picture: columns filled left to right, each shelf under the shortest."""
    columns = [HEAD] * min(3, max(1, len(drawn.shelves)))
    placed: list[PlacedShelf] = []
    for shelf in drawn.shelves:
        column = columns.index(min(columns))
        placed.append(PlacedShelf(shelf, MARGIN + column * (WIDTH + COLUMN_GAP), columns[column]))
        columns[column] += SOURCE_HEAD + shelf.height + COLUMN_GAP
    width = 2 * MARGIN + len(columns) * WIDTH + (len(columns) - 1) * COLUMN_GAP
    return Sheet(width, max(columns) + MARGIN, placed)


def small_picture(drawn: Atlas, light: Lighting) -> SmallPicture:
    """Pack all marks close together, a block for each source, the largest first.

    Without a query, neighbouring documents differ in tone.
    """
    blocks: list[Block] = []
    paths: dict[str, list[str]] = {}
    pitch, y = CELL + GAP, 0
    for shelf in sorted(drawn.shelves, key=lambda shelf: (-len(shelf.marks), shelf.source)):
        blocks.append(Block(shelf.source, len(shelf.marks), y + SMALL_NAME - 6))
        top = y + SMALL_NAME
        documents = [list(marks) for _, marks in groupby(shelf.marks, lambda mark: mark.handle["sourceId"])]
        places = iter(range(len(shelf.marks)))
        for number, document in enumerate(documents):
            for mark in document:
                at = next(places)
                style = light.of(mark.ordinal) + (" odd" if number % 2 else "")
                corner = f"{at % SMALL_COLUMNS * pitch} {top + at // SMALL_COLUMNS * pitch}"
                paths.setdefault(style, []).append(f"M{corner}h{CELL}v{CELL}h-{CELL}z")
        y = top + -(-len(shelf.marks) // SMALL_COLUMNS) * pitch + GAP
    return SmallPicture(
        SMALL_COLUMNS * pitch - GAP,
        y - GAP,
        blocks,
        {style: "".join(shapes) for style, shapes in paths.items()},
    )


def _light(place: int, given: bool) -> Light:
    if given:
        return "selected"
    return "near" if place <= 16 else "far" if place <= 48 else "faint"


def _shelf(source: str, members: Sequence[tuple[int, wire.Handle]]) -> Shelf:
    marks: list[Mark] = []
    threads: list[Thread] = []
    names: list[Name] = []
    x = y = documents = 0
    own_lines = False
    for document, group in groupby(members, lambda one: one[1]["sourceId"]):
        chunks = list(group)
        documents += 1
        named = len(chunks) >= NAMED_FROM
        if x and (named or own_lines):
            x, y = 0, y + LINE
        if named:
            names.append(Name(document or "(no document named)", y + NAME_HEIGHT - 8))
            y += NAME_HEIGHT
        elif own_lines:
            y += BETWEEN
        own_lines = named
        if x and x + len(chunks) * (CELL + GAP) - GAP > WIDTH:
            x, y = 0, y + LINE
        for number, (ordinal, one) in enumerate(chunks):
            if x + CELL > WIDTH:
                x, y = 0, y + LINE
            marks.append(Mark(ordinal, one, x, y))
            if number and marks[-2].y == y:
                threads.append(Thread(marks[-2].x, y + CELL + 2, CELL + GAP + CELL))
            x += CELL + GAP
        x += BETWEEN - GAP
    return Shelf(source, documents, marks, _joined(threads), names, y + LINE)


def _joined(threads: Sequence[Thread]) -> list[Thread]:
    """Join threads that overlap on one line, so that each document's line is drawn once."""
    joined: list[Thread] = []
    for thread in threads:
        last = joined[-1] if joined else None
        if last is not None and last.y == thread.y and last.x + last.length >= thread.x + CELL:
            joined[-1] = last._replace(length=thread.x + thread.length - last.x)
        else:
            joined.append(thread)
    return joined
