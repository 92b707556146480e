"""``frontier status|search|refresh|diff|propose`` and ``anatomy``."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from secondbrain import resources, wire
from secondbrain.cli.output import as_json, facts, payload, short, table

_FOLDER = click.Path(file_okay=False, path_type=Path)
_TOKENS = ("GH_READ_TOKEN", "GITHUB_TOKEN")


@click.group()
def frontier() -> None:
    """Candidates found in seven fixed public sources: evidence for reviewers, promoted by nothing here."""


@frontier.command(epilog="Example: secondbrain frontier status --json")
@as_json
def status(as_json: bool) -> int:
    """Print the state of the stored candidate set."""
    from secondbrain.retrieval.frontier import frontier_status

    found = frontier_status()
    if as_json:
        payload(found)
    else:
        shown = ("state", "error_type", "candidate_count", "candidate_set_sha256", "source_count", "promotion_authority")
        facts((name, found[name]) for name in shown if name in found)  # type: ignore[literal-required]
        table(
            ("source", "repository", "revision", "candidates"),
            [
                (one["source_id"], one["repository"], short(one["revision"]), str(one["candidate_count"]))
                for one in found.get("sources", [])
            ],
        )
    return 0 if found["ready"] else 1


@frontier.command(epilog='Example: secondbrain frontier search "entropy bound" --kind attributed-formula')
@click.argument("query", nargs=-1, required=True)
@click.option("-k", type=click.IntRange(1, 24), default=12, show_default=True, help="Most handles.")
@click.option("--kind", help="Keep candidates of this source kind.")
@click.option("--source-id", help="Keep candidates of this source.")
@click.option("--quant-domain", help="Keep candidates of this quant domain.")
@as_json
def search(
    query: tuple[str, ...],
    k: int,
    kind: str | None,
    source_id: str | None,
    quant_domain: str | None,
    as_json: bool,
) -> int:
    """Search the candidates: handles for reviewers, never content."""
    from secondbrain.retrieval.frontier import frontier_search

    found = frontier_search(" ".join(query), k, kind=kind, source_id=source_id, quant_domain=quant_domain)
    if as_json:
        payload(found)
    else:
        _show(found["handles"])
        click.echo(f"{found['state']} · {len(found['handles'])} candidates · promotion authority NONE")
    if found["state"] == "UNAVAILABLE":
        return 1
    return 0 if found["ready"] else 3


@frontier.command(epilog="Example: secondbrain frontier refresh --from payloads/ --out review/")
@click.option("--from", "from_dir", type=_FOLDER, help="Read payloads from a folder instead of the network.")
@click.option("--out", type=_FOLDER, help="Where the set goes (default: frontier/ of the checkout stood in).")
@as_json
def refresh(from_dir: Path | None, out: Path | None, as_json: bool) -> int:
    """Read the seven sources at exact revisions and write candidates and state: all seven or none."""
    from secondbrain.discovery.refresh import refresh as run

    receipt = run(out or Path("frontier"), from_dir=from_dir, token=_token(), progress=_watched())
    return _receipt(receipt, as_json)


@frontier.command(epilog="Example: secondbrain frontier diff review/")
@click.argument("base", type=_FOLDER, required=False)
@click.option("--new", type=_FOLDER, help="The set to compare (default: frontier/ of the checkout stood in).")
@as_json
def diff(base: Path | None, new: Path | None, as_json: bool) -> int:
    """Say what differs between BASE (default: the packaged set) and the newer set: what a reviewer needs first."""
    from secondbrain.discovery.diff import diff_sets
    from secondbrain.discovery.refresh import read_set

    old_rows, _ = read_set(base or resources.frontier_folder())
    new_rows, _ = read_set(new or Path("frontier"))
    found: dict[str, Any] = diff_sets(old_rows, new_rows)
    if as_json:
        payload(found)
    else:
        for name in ("added", "changed", "removed"):
            for one in found[name]:
                click.echo(f"{name}: {one['id']} · {one['title']}")
        click.echo(f"unchanged: {found['unchanged_count']}")
    return 0


@frontier.command(epilog="Example: secondbrain frontier propose --receipt run.json")
@click.option("--from", "from_dir", type=_FOLDER, help="Read payloads from a folder instead of the network.")
@click.option("--receipt", type=click.Path(dir_okay=False, path_type=Path), default=Path("frontier-run.json"),
              show_default=True, help="Where the run's receipt goes.")  # fmt: skip
@as_json
def propose(from_dir: Path | None, receipt: Path, as_json: bool) -> int:
    """Propose the refreshed set on a review branch, for a person to decide on."""
    from secondbrain.discovery.propose import propose as run

    found = run(Path.cwd(), from_dir=from_dir, token=_token(), receipt_path=receipt, progress=_watched())
    return _receipt(found, as_json)


@click.command(epilog="Example: secondbrain anatomy -k 24 --json")
@click.option("-k", type=click.IntRange(1, 24), default=24, show_default=True, help="Most handles.")
@as_json
def anatomy(k: int, as_json: bool) -> int:
    """Print the read-only feed of candidate handles for the Living Anatomy."""
    from secondbrain.retrieval.frontier import anatomy_feed

    found = anatomy_feed(k)
    if as_json:
        payload(found)
    else:
        _show(found["handles"])
        click.echo(f"{found['state']} · {found['purpose']} · {found['candidate_count']} candidates in the set")
    return 0 if found["ready"] else 1


def _show(handles: list[wire.FrontierHandle]) -> None:
    table(
        ("id", "title", "kind", "proof status", "reported status"),
        [
            (
                one["nodeId"].removeprefix("frontier:")[:12],
                one["title"],
                one["kind"],
                one.get("proofStatus", ""),
                one.get("reportedStatus", ""),
            )
            for one in handles
        ],
    )


def _receipt(receipt: dict[str, Any], as_json: bool) -> int:
    if as_json:
        payload(receipt)
    else:
        facts((name, value) for name, value in receipt.items() if isinstance(value, (str, int)))
    return 0 if receipt.get("ok", True) else 1


def _token() -> str | None:
    return next((os.environ[name] for name in _TOKENS if os.environ.get(name)), None)


def _watched() -> Callable[[str, str], None] | None:
    """Return a function that prints a line a source, where a person watches standard error."""
    if not click.get_text_stream("stderr").isatty():
        return None
    return lambda source_id, step: click.echo(f"{source_id}: {step}", err=True)
