"""Assets under names of their content, and pages without inline code."""

import re
import zlib

import pytest
from page_client import client

from secondbrain import Store
from secondbrain.digests import sha256_bytes
from secondbrain.space.page import svg, views
from secondbrain.space.page.assets import asset_url, assets

MOST_COMPRESSED = 150_000


def test_an_assets_name_holds_its_digest_and_it_may_be_kept_for_ever(store: Store) -> None:
    web = client(store)
    for name, asset in assets().items():
        answer = web.get(asset_url(name))
        assert answer.content == asset.content
        assert sha256_bytes(answer.content)[:16] in asset_url(name)
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["content-type"] == asset.media_type


@pytest.mark.parametrize(
    "name", ["page.css", "page.0000000000000000.css", "nothing.js", "..%2f..%2froutes.py"]
)
def test_a_name_that_is_not_an_assets_is_not_found(store: Store, name: str) -> None:
    assert client(store).get(f"/assets/{name}").status_code == 404


def test_a_picture_opened_by_itself_has_an_icon(store: Store) -> None:
    assert client(store).get("/favicon.ico").content == assets()["icon.svg"].content


def test_the_assets_are_small() -> None:
    assert sum(len(zlib.compress(asset.content, 9)) for asset in assets().values()) < MOST_COMPRESSED


@pytest.mark.parametrize(
    "path", ["/", "/?q=receipt", "/?q=croissant", "/map?q=receipt", "/boundary", "/?k=x"]
)
def test_a_page_needs_nothing_inline_and_nothing_from_elsewhere(store: Store, path: str) -> None:
    page = client(store).get(path).text
    assert not re.search(r"\sstyle=|<style|\son[a-z]+=|javascript:", page)
    assert not re.search(r"<script(?! src=\"/assets/)", page)
    assert not re.search(r'(?:src|href|action)="(?!/|#)', page)


def test_the_same_digest_draws_the_same_line_and_another_another() -> None:
    assert svg.trace("0f" * 32) == svg.trace("0f" * 32) != svg.trace("f0" * 32)
    assert svg.trace("f").split(",")[0] == "0"


def test_bars_of_nothing_are_drawn_as_nothing() -> None:
    assert svg.bars({}) == []
    assert [bar.length for bar in svg.bars({"a": 0})] == [0.0]
    assert svg.stacked([("a", 0.0)], 1.0) == []


def test_a_share_below_one_is_never_called_the_whole() -> None:
    assert views.percent(0.999) == "99\u202f%"
    assert views.percent(1.0) == "100\u202f%"


def test_an_address_leaves_out_what_has_no_value() -> None:
    assert views.address("/map", q="") == "/map"
    assert views.address("/", q="Λ & more", k=3) == "/?q=%CE%9B+%26+more&k=3"
