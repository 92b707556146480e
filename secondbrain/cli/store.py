"""``status``, ``path``, ``verify`` and ``build``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from secondbrain.cli.output import as_json, facts, payload, short
from secondbrain.cli.outputs import check_output
from secondbrain.errors import StoreIntegrityError
from secondbrain.settings import Settings

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(epilog="Example: secondbrain status --json")
@as_json
def status(as_json: bool) -> int:
    """Say which generation is open, and how its file was checked."""
    from secondbrain.retrieval.status import status as current

    found = current()
    if as_json:
        payload(found)
    else:
        shown = (
            "state",
            "error_type",
            "generation_sha256",
            "integrity",
            "corpus_n",
            "frontier_n",
            "schema_version",
        )
        facts((name, found[name]) for name in shown if name in found)  # type: ignore[literal-required]
    return 0 if found["ready"] else 1


@click.command(epilog='Example: sqlite3 -readonly "$(secondbrain path)"')
@as_json
def path(as_json: bool) -> int:
    """Print where the database lies. Whoever holds the file can read its text."""
    from secondbrain.store.locate import default_store

    found = default_store().path.resolve()
    if as_json:
        payload({"path": str(found)})
    else:
        click.echo(found)
    return 0


@click.command(epilog="Example: secondbrain verify my.db")
@click.argument("file", type=_FILE, required=False)
@as_json
def verify(file: Path | None, as_json: bool) -> int:
    """Audit a database file: exit 0 when all holds, 1 with a line a finding, 2 when it cannot run."""
    from secondbrain.store.locate import default_store
    from secondbrain.store.verify import verification, verify_file

    try:
        audit = verify_file(file if file is not None else default_store().path)
    except StoreIntegrityError as error:
        click.echo(f"secondbrain: {error}", err=True)
        return 2
    if as_json:
        payload(verification(audit))
    else:
        for finding in audit.findings:
            click.echo(f"{finding['check']}: {finding['detail']}")
        if not audit.findings:
            click.echo(f"{audit.path}: {len(audit.checked)} checks hold")
    return 1 if audit.findings else 0


@click.command(epilog="Example: secondbrain build --corpus projection.jsonl -o my.db")
@click.option("--corpus", type=_FILE, required=True, help="The projection, JSONL.")
@click.option(
    "--frontier", type=click.Path(file_okay=False, path_type=Path), help="A frontier candidate set."
)
@click.option("--aliases", type=_FILE, help="Terms that the corpus writes in two ways, TOML.")
@click.option(
    "-o", "--out", type=_FILE, required=True, help="The database to write; its digest goes beside it."
)
@click.option("--max-bytes", type=click.IntRange(1), help="Largest projection admitted.")
@click.option("--max-rows", type=click.IntRange(1), help="Most rows admitted.")
@as_json
def build(
    corpus: Path,
    frontier: Path | None,
    aliases: Path | None,
    out: Path,
    max_bytes: int | None,
    max_rows: int | None,
    as_json: bool,
) -> int:
    """Build a database from a projection: all of it, or nothing."""
    from secondbrain.store.build import build as build_file

    settings = Settings.from_environment()
    check_output(out, inputs=[corpus, *([aliases] if aliases else [])], database=True)
    with _progress_bar() as progress:
        built = build_file(
            corpus,
            out,
            frontier=frontier,
            aliases=aliases,
            max_bytes=max_bytes or settings.max_bytes,
            max_rows=max_rows or settings.max_rows,
            progress=progress,
        )
    if as_json:
        payload({**built._asdict(), "path": str(built.path)})
    else:
        click.echo(
            f"{built.path}: {built.chunks} chunks, {built.candidates} candidates, "
            f"generation {short(built.generation_sha256)}, file {short(built.file_sha256)}"
        )
    return 0


@contextmanager
def _progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a progress function: a bar where a person watches standard error, else silence."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("build", total=None)

        def progress(stage: str, done: int, total: int) -> None:
            bar.update(task, description=stage, completed=done, total=total or None)

        yield progress
