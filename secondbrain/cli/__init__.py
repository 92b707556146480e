"""The command line, ``secondbrain``: for people a table, for programs the wire payload (``--json``).

Exit codes: 0 done, 3 abstained (no grounded handles), 2 usage, 1 failure. An error is one sentence on
standard error, never a traceback.
"""

import io
import sys
from collections.abc import Sequence

import click

from secondbrain.cli import corpus, evaluate, faces, frontier, retrieval, store
from secondbrain.errors import (
    ConfigurationError,
    ProviderBoundaryError,
    RetrievalBoundaryError,
    SecondBrainError,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="szl-second-brain", prog_name="secondbrain")
def cli() -> None:
    """Governed retrieval in one SQLite file: handles and digests outside, authorised text inside."""


for command in (
    retrieval.search,
    retrieval.explain,
    retrieval.receipt,
    store.status,
    store.path,
    store.verify,
    store.build,
    corpus.corpus,
    frontier.frontier,
    frontier.anatomy,
    evaluate.evaluate,
    faces.serve,
    faces.mcp,
):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a letter shows its number instead
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.exit(cli.main(arguments, prog_name="secondbrain", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("secondbrain: stopped", err=True)
        sys.exit(1)
    except SecondBrainError as error:
        click.echo(f"secondbrain: {error}", err=True)
        callers_fault = isinstance(error, (RetrievalBoundaryError, ConfigurationError))
        sys.exit(2 if callers_fault and not isinstance(error, ProviderBoundaryError) else 1)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read us has left; Python would complain while it closes standard output
        sys.exit(1)
    except OSError as error:
        click.echo(f"secondbrain: {error.filename or 'operating system'}: {error.strerror}", err=True)
        sys.exit(1)
