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
    # As bytes: canonical JSON is UTF-8, whatever the terminal's encoding is.
    click.echo(canonical_json(value).encode("utf-8"))


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows under column names."""
    from rich.console import Console  # a program that asks for JSON never pays for it
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, header_style="bold", pad_edge=False)
    for number, column in enumerate(columns):
        shown.add_column(column, overflow="fold" if number else "crop", no_wrap=number == 0)
    for row in rows:
        # Text: square brackets of a title are no markup. Printable: its control characters do nothing.
        shown.add_row(*(Text(printable(cell)) for cell in row))
    Console(highlight=False).print(shown)


def facts(values: Iterable[tuple[str, object]]) -> None:
    """Print names and values, a line each."""
    for name, value in values:
        click.echo(f"{name + ':':<18} {printable(str(value))}")


def printable(text: str) -> str:
    """Return a text whose control characters, line ends apart, are shown as a replacement character."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def short(digest: str) -> str:
    """Return the first twelve digits of a digest, for people."""
    return digest[:12]
