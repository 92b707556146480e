"""``corpus make``, ``corpus check`` and ``corpus export``: an operator's own files, text included."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import click

from secondbrain.cli.output import as_json, payload, short
from secondbrain.cli.outputs import check_output
from secondbrain.settings import Settings

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.group()
def corpus() -> None:
    """Make, check and export projections. These commands move text between the operator's own files."""


@corpus.command(epilog="Example: secondbrain corpus make docs/ -o projection.jsonl")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-o", "--out", type=_FILE, required=True, help="The projection to write, JSONL with text.")
@as_json
def make(folder: Path, out: Path, as_json: bool) -> int:
    """Turn the Markdown documents below FOLDER into a projection, one row a heading."""
    from secondbrain.projection.admission import admit, projection_line
    from secondbrain.projection.documents import harvest

    settings = Settings.from_environment()
    check_output(out, inputs=[], database=False)
    found = harvest(folder)
    with tempfile.TemporaryDirectory(dir=out.resolve().parent, prefix=".corpus-") as private:
        # Admitted before it gets its name: what `make` writes, `build` takes.
        draft = Path(private) / "projection.jsonl"
        _write(draft, map(projection_line, found.rows))
        _, admitted = admit(draft, max_bytes=settings.max_bytes, max_rows=settings.max_rows)
        os.replace(draft, out)
    for note in found.notes:
        click.echo(note, err=True)
    if as_json:
        payload(
            {
                "documents": found.documents,
                "generation_sha256": admitted.generation_sha256,
                "notes": found.notes,
                "path": str(out),
                "rows": admitted.rows,
            }
        )
    else:
        click.echo(
            f"{out}: {admitted.rows} rows of {found.documents} documents, "
            f"generation {short(admitted.generation_sha256)}; holds text"
        )
    return 0


@corpus.command(epilog="Example: secondbrain corpus check projection.jsonl")
@click.argument("file", type=_FILE)
@click.option("--max-bytes", type=click.IntRange(1), help="Largest projection admitted.")
@click.option("--max-rows", type=click.IntRange(1), help="Most rows admitted.")
@as_json
def check(file: Path, max_bytes: int | None, max_rows: int | None, as_json: bool) -> int:
    """Admit a projection and write nothing: exit 0 if it would be taken, 1 with the reason if not."""
    from secondbrain.projection.admission import Admission

    settings = Settings.from_environment()
    admission = Admission(
        file, max_bytes=max_bytes or settings.max_bytes, max_rows=max_rows or settings.max_rows
    )
    for _ in admission:
        pass
    admitted = admission.result
    if as_json:
        payload(
            {"bytes": admitted.bytes, "generation_sha256": admitted.generation_sha256, "rows": admitted.rows}
        )
    else:
        click.echo(f"{file}: {admitted.rows} rows, generation {admitted.generation_sha256}")
    return 0


@corpus.command(epilog="Example: secondbrain corpus export -o projection.jsonl")
@click.option("-o", "--out", type=_FILE, required=True, help="The projection to write, JSONL with text.")
@as_json
def export(out: Path, as_json: bool) -> int:
    """Write the projection of the open database, text included, in the order of its positions."""
    from secondbrain.digests import sha256_file
    from secondbrain.store.export import projection_lines
    from secondbrain.store.locate import default_store

    store = default_store()
    check_output(out, inputs=[store.path], database=False)
    with tempfile.TemporaryDirectory(dir=out.resolve().parent, prefix=".corpus-") as private:
        draft = Path(private) / "projection.jsonl"
        _write(draft, projection_lines(reader := store.reader()))
        found = sha256_file(draft)
        os.replace(draft, out)
    same = found == reader.snapshot.generation_sha256
    if as_json:
        payload(
            {
                "generation_parity": same,
                "path": str(out),
                "rows": reader.snapshot.chunk_count,
                "sha256": found,
            }
        )
    else:
        parity = (
            "the bytes of its generation" if same else "the same rows; the projection was not canonical JSON"
        )
        click.echo(f"{out}: {reader.snapshot.chunk_count} rows, {parity}; holds text")
    return 0


def _write(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(lines)
