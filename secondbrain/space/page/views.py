"""Templates to HTML: one environment that escapes everything and forgives nothing.

jinja2 draws the pages: HTML stays HTML, every value is escaped unless a template says otherwise (none
does), and a name that a template lacks is an error and not an empty place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined

from secondbrain import wire
from secondbrain.retrieval.status import index, status
from secondbrain.space.page import meanings, svg
from secondbrain.space.page.assets import asset_url
from secondbrain.space.page.frontier import Frontier
from secondbrain.space.page.map import small_picture
from secondbrain.store.opened import Store

SHORT_DIGEST = 12


@dataclass(frozen=True)
class Masthead:
    """What stands on top of every page: what is open."""

    status: wire.Status
    sources: dict[str, int]


def masthead(store: Store) -> Masthead:
    """Read the masthead; a store that fails its check is named unavailable."""
    return Masthead(status(store=store), index(store=store)["sources"])


def render(template: str, **values: Any) -> str:
    """Return a template's text with its values escaped."""
    return environment().get_template(template).render(values)


@cache
def environment() -> Environment:
    """Return the one environment of the page's templates."""
    made = Environment(
        loader=PackageLoader("secondbrain.space.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals.update(
        asset_url=asset_url,
        trace_points=svg.trace,
        source_bars=svg.bars,
        small_picture=small_picture,
        address=address,
        filter_links=filter_links,
        verdicts=meanings.VERDICTS,
    )
    made.filters.update(short=short, percent=percent, thousands=thousands, spoken=spoken)
    return made


def address(path: str, **parameters: str | int | None) -> str:
    """Return a path with the parameters that have a value."""
    kept = {name: value for name, value in parameters.items() if value not in (None, "")}
    return f"{path}?{urlencode(kept)}" if kept else path


def filter_links(name: str, view: Frontier) -> Callable[[str], str]:
    """Return a function: value → address of the view narrowed by it, or widened where it already was."""

    def link(value: str) -> str:
        filters: dict[str, str | None] = {**view.filters}
        filters[name] = None if filters.get(name) == value else value
        return address("/frontier", q=view.query, **filters)

    return link


def short(digest: str) -> str:
    """Return the first digits of a digest, as people compare them."""
    return digest[:SHORT_DIGEST]


def percent(share: float) -> str:
    """Return a share of one as whole percent, and never 100 % for less."""
    return f"{min(round(100 * share), 99) if share < 1 else 100}\u202f%"


def thousands(number: int) -> str:
    """Return a whole number with commas."""
    return f"{number:,}"


def spoken(name: str) -> str:
    """Return a name of the wire as words: ``quant_domain`` → ``quant domain``."""
    return name.replace("_", " ").replace("-", " ")
