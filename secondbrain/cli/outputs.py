"""Where commands write: never over their own input, and never over a file of another kind."""

from collections.abc import Iterable
from pathlib import Path

import click

from secondbrain.store.schema import read_header


def check_output(out: Path, *, inputs: Iterable[Path], database: bool) -> None:
    """Refuse an output that is an input, has no folder, or would replace a file of another kind.

    ``database`` says that a database is written, else a projection. Raises click.UsageError.
    """
    if not out.absolute().parent.is_dir():
        raise click.UsageError(f"{out}: there is no such folder; make it first")
    if not out.exists():
        return
    if any(one.exists() and one.samefile(out) for one in inputs):
        raise click.UsageError(f"{out}: is what is read; name another file to write")
    if out.is_file() and out.stat().st_size > 0:
        with out.open("rb") as stream:
            fits = read_header(out) is not None if database else stream.read(1) == b"{"
        if not fits:
            kind = "database" if database else "projection"
            raise click.UsageError(f"{out}: is there and is no {kind}; name another file, or remove it")
