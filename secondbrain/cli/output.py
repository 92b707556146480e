"""How commands print: the canonical payload alone, or a table with colours on a terminal only."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

from secondbrain.digests import canonical_json

ABSTAINED = 3
"""Exit code of a search that gave no grounded handles."""
F = TypeVar("F", bound=Callable[..., Any])

as_json: Callable[[F], F] = click.option(
    "--json", "as_json", is_flag=True, help="Print the wire payload, canonical JSON, and nothing else."
)
"""The option that every command has."""


def payload(value: object) -> None:
    """Print a payload as canonical JSON on one line."""
    click.echo(canonical_json(value))


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows under column names."""
    from rich.console import Console  # a program that asks for JSON never pays for it
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, header_style="bold", pad_edge=False)
    for number, column in enumerate(columns):
        shown.add_column(column, overflow="fold" if number else "crop", no_wrap=number == 0)
    for row in rows:
        shown.add_row(*map(Text, row))  # Text: square brackets of a title are no markup
    Console(highlight=False).print(shown)


def facts(values: Iterable[tuple[str, object]]) -> None:
    """Print names and values, a line each."""
    for name, value in values:
        click.echo(f"{name + ':':<18} {value}")


def short(digest: str) -> str:
    """Return the first twelve digits of a digest, for people."""
    return digest[:12]
