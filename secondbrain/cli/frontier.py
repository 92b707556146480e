"""``frontier status|search|refresh|diff|propose`` and ``anatomy``."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from secondbrain import wire
from secondbrain.cli.output import ABSTAINED, as_json, facts, payload, short, table

_FOLDER = click.Path(file_okay=False, path_type=Path)


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
        shown = (
            "state",
            "error_type",
            "candidate_count",
            "candidate_set_sha256",
            "source_count",
            "promotion_authority",
        )
        facts((name, found[name]) for name in shown if name in found)  # type: ignore[literal-required]
        table(
            ("source", "repository", "revision", "candidates"),
            [
                (one["source_id"], one["repository"], short(one["revision"]), str(one["candidate_count"]))
                for one in found.get("sources", [])
            ],
        )
    if not found["ready"]:
        _unavailable(found["error_type"])
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
    return 0 if found["ready"] else ABSTAINED


@frontier.command(epilog="Example: secondbrain frontier refresh --from payloads/ --out review/")
@click.option("--from", "from_dir", type=_FOLDER, help="Read payloads from a folder instead of the network.")
@click.option("--out", type=_FOLDER, help="Where the set goes (default: frontier/ of the checkout stood in).")
@as_json
def refresh(from_dir: Path | None, out: Path | None, as_json: bool) -> int:
    """Read the seven sources at exact revisions and write candidates and state: all seven or none."""
    from secondbrain.discovery.github import token_from
    from secondbrain.discovery.refresh import refresh as run

    token = token_from(os.environ)
    return _receipt(
        run(out or Path("frontier"), from_dir=from_dir, token=token, progress=_watched()), as_json
    )


@frontier.command(epilog="Example: secondbrain frontier diff review/")
@click.argument("base", default="HEAD")
@click.option("--new", type=_FOLDER, help="The newer set (default: frontier/ of the checkout stood in).")
@as_json
def diff(base: str, new: Path | None, as_json: bool) -> int:
    """Say what a newer set changes in BASE, a folder or a git revision: what a reviewer needs first."""
    from secondbrain.discovery.diff import diff_sets
    from secondbrain.discovery.state import read_set

    old_rows, _ = read_set(Path(base)) if Path(base).is_dir() else _set_at(base)
    new_rows, _ = read_set(new or Path("frontier"))
    found = diff_sets(old_rows, new_rows)
    if as_json:
        payload(found)
        return 0
    for one in found["added"]:
        click.echo(f"added: {one['id']} · {one['title']}")
    for changed in found["changed"]:
        click.echo(f"changed: {changed['id']} · {changed['title']} · {', '.join(changed['fields'])}")
    for one in found["removed"]:
        click.echo(f"removed: {one['id']} · {one['title']}")
    facts(found["counts"].items())
    facts([("revision only", found["revision_only"])])
    return 0


@frontier.command(epilog="Example: secondbrain frontier propose --receipt run.json")
@click.option("--from", "from_dir", type=_FOLDER, help="Read payloads from a folder instead of the network.")
@click.option("--receipt", type=click.Path(dir_okay=False, path_type=Path), default=Path("frontier-run.json"),
              show_default=True, help="Where the run's receipt goes.")  # fmt: skip
@as_json
def propose(from_dir: Path | None, receipt: Path, as_json: bool) -> int:
    """Propose the refreshed set on a review branch, for a person to decide on."""
    from secondbrain.discovery.github import token_from
    from secondbrain.discovery.propose import propose as run

    token = token_from(os.environ)
    found = run(Path.cwd(), from_dir=from_dir, token=token, receipt_path=receipt, progress=_watched())
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
        click.echo(
            f"{found['state']} · {found['purpose']} · {found['candidate_count']} candidates in the set"
        )
    return 0 if found["ready"] else 1


def _set_at(revision: str) -> tuple[list[wire.FrontierCandidate], wire.FrontierState]:
    """Return the committed set of a revision of the checkout stood in."""
    from secondbrain.discovery.git import file_at
    from secondbrain.discovery.state import CANDIDATES, STATE, read_set

    with tempfile.TemporaryDirectory(prefix="frontier-diff-") as folder:
        for name in (CANDIDATES, STATE):
            (Path(folder) / name).write_bytes(file_at(Path.cwd(), revision, f"frontier/{name}"))
        return read_set(Path(folder))


def _show(handles: list[wire.FrontierHandle]) -> None:
    table(
        ("title, id", "kind", "proof status", "reported status"),
        [
            (
                f"{one['title']}\n{one['nodeId']}",
                one["kind"],
                one.get("proofStatus", ""),
                one.get("reportedStatus", ""),
            )
            for one in handles
        ],
    )


def _unavailable(error_type: str) -> None:
    click.echo(
        f"secondbrain: no candidate set that holds ({error_type}): build one in with --frontier, "
        "or run `secondbrain verify`",
        err=True,
    )


def _receipt(receipt: wire.FrontierRun, as_json: bool) -> int:
    if as_json:
        payload(receipt)
    else:
        facts((name, value) for name, value in receipt.items() if isinstance(value, (str, int)))
        table(
            ("source", "revision", "candidates"),
            [
                (one["source_id"], short(one["revision"]), str(one["candidate_count"]))
                for one in receipt["sources"]
            ],
        )
    return 0 if receipt["ready"] else 1


def _watched() -> Callable[[str, str], None] | None:
    """Return a function that prints a line a source, where a person watches standard error."""
    if not sys.stderr.isatty():
        return None

    def watched(source_id: str, step: str) -> None:
        click.echo(f"{source_id}: {step}", err=True)

    return watched
