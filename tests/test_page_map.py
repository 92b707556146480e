"""The map: one mark for every chunk, lit by a ranking, saved as a picture of its own."""

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from conftest import ROWS, row
from page_client import client

from secondbrain import HybridSecondBrain, Store, wire
from secondbrain.space.page import map as picture

SVG = "{http://www.w3.org/2000/svg}"


def handle(node_id: str, source: str, document: str) -> wire.Handle:
    return {
        "nodeId": node_id,
        "nodeKind": "INDEX",
        "label": "DECLARED",
        "note": node_id,
        "source": source,
        "sourceId": document,
        "sha256": "0" * 64,
    }


def atlas_of(*sizes: int) -> picture.Atlas:
    names = [f"doc-{number:03}" for number, size in enumerate(sizes) for _ in range(size)]
    handles = [(at, handle(f"{name}:{at}", "doc", name)) for at, name in enumerate(names, 1)]
    return picture.lay_out("0" * 64, handles)


def test_every_chunk_is_one_mark_with_its_handle(store: Store) -> None:
    page = client(store).get("/map").text
    assert sorted(re.findall(r'data-id="([^"]+)"', page)) == sorted(one["id"] for one in ROWS)
    for one in ROWS:
        assert f'data-sha="{one["sha256"]}"' in page


def test_marks_are_grouped_by_source_and_document(store: Store) -> None:
    drawn = picture.atlas(store.reader())
    assert drawn is not None
    assert [(shelf.source, shelf.documents, len(shelf.marks)) for shelf in drawn.shelves] == [
        ("doc", 4, 4),
        ("note", 2, 2),
    ]
    assert picture.atlas(store.reader()) is drawn


@pytest.mark.parametrize(
    "sizes", [(1,) * 60, (3, 2, 9, 1, 1, 30, 4), (200,), (8, 8), (1, 7, 8, 1), (23, 1, 1)]
)
def test_no_two_marks_overlap_and_none_leaves_the_picture(sizes: tuple[int, ...]) -> None:
    [shelf] = atlas_of(*sizes).shelves
    places = {(mark.x, mark.y) for mark in shelf.marks}
    assert len(places) == len(shelf.marks) == sum(sizes)
    for mark in shelf.marks:
        assert 0 <= mark.x <= picture.WIDTH - picture.CELL
        assert mark.y + picture.CELL <= shelf.height
    for one in places:
        for other in places - {one}:
            assert abs(one[0] - other[0]) >= picture.CELL or abs(one[1] - other[1]) >= picture.CELL


def test_a_large_document_stands_under_its_name_and_small_ones_flow() -> None:
    [shelf] = atlas_of(2, 9, 2).shelves
    assert [name.text for name in shelf.names] == ["doc-001"]
    assert [thread.length for thread in shelf.threads] == [26, 9 * 14 - 2, 26]


def test_a_query_lights_its_candidates_and_numbers_the_given_ones(store: Store) -> None:
    brain = HybridSecondBrain(store)
    light = picture.lighting(brain, store.reader(), "receipt chain", 12)
    given = brain.context("receipt chain", 12)["handles"]
    assert [one.handle for one in light.lit if one.selected] == given
    assert light.state == "GROUNDED_HANDLES_READY"
    page = client(store).get("/map", params={"q": "receipt chain"}).text
    assert page.count('class="given"') == len(given)


def test_an_abstention_lights_candidates_and_gives_none(store: Store) -> None:
    page = client(store).get("/map", params={"q": "ledger croissant recipe Paris"}).text
    assert "the brain abstains" in page
    assert 'class="given"' not in page
    assert 'class="mark near"' in page


def test_a_query_that_nothing_holds_lights_nothing(store: Store) -> None:
    assert "nothing is lit" in client(store).get("/map", params={"q": "croissant"}).text
    assert 'class="mark rest"' in client(store).get("/map", params={"q": " "}).text


def test_light_falls_with_rank() -> None:
    assert [picture._light(place, False) for place in (1, 16, 17, 48, 49)] == [
        "near",
        "near",
        "far",
        "far",
        "faint",
    ]
    assert picture._light(90, True) == "selected"


def test_the_saved_picture_stands_alone(store: Store) -> None:
    answer = client(store).get("/map.svg", params={"q": "receipt"})
    assert answer.headers["content-type"].startswith("image/svg+xml")
    root = ElementTree.fromstring(answer.text)
    marks = [one for one in root.iter(f"{SVG}rect") if "mark" in one.get("class", "")]
    assert len(marks) == len(ROWS)
    assert all(one.get("fill") for one in marks)
    assert not [one for one in root.iter() if one.get("style") or one.tag in (f"{SVG}style", f"{SVG}script")]
    assert store.snapshot().generation_sha256 in answer.text


def test_shelves_of_the_saved_picture_do_not_overlap(make_store: Callable[..., Store]) -> None:
    drawn = atlas_of(1)
    many = picture.Atlas("0" * 64, 4, 4, drawn.shelves * 5)
    placed = picture.sheet(many)
    assert len({(one.x, one.y) for one in placed.shelves}) == 5
    assert all(one.y + one.shelf.height <= placed.height for one in placed.shelves)


def test_a_corpus_too_large_for_single_marks_is_not_drawn(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture, "MOST_MARKS", 5)
    page = client(store).get("/map")
    assert page.status_code == 200
    assert "A map is drawn of up to 5" in page.text
    assert client(store).get("/map.svg").status_code == 422
    assert "small-map" not in client(store).get("/").text


def test_a_chunk_without_a_document_is_drawn_too(make_store: Callable[..., Store]) -> None:
    rows = [row(f"n:{number}", f"text {number}", source="n") for number in range(9)]
    for one in rows:
        del one["sourceId"]
    assert "no document named" in client(make_store(rows)).get("/map").text


def test_the_small_picture_holds_every_mark_once(store: Store) -> None:
    drawn = picture.atlas(store.reader())
    assert drawn is not None
    small = picture.small_picture(drawn, picture.NO_LIGHT)
    assert "".join(small.paths.values()).count("M") == len(ROWS)
    assert [(block.source, block.chunks) for block in small.blocks] == [("doc", 4), ("note", 2)]
