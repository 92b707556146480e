"""``search``, ``explain`` and ``receipt verify``."""

import sys
from pathlib import Path

import click

from secondbrain import strict_json, wire
from secondbrain.cli.output import ABSTAINED, as_json, facts, payload, short, table

_query = click.argument("query", nargs=-1, required=True)


@click.command(epilog='Example: secondbrain search "locked formula authority" -k 3 --source invariant')
@_query
@click.option("-k", type=click.IntRange(1, 12), default=6, show_default=True, help="Most handles.")
@click.option(
    "--source", "sources", multiple=True, metavar="NAME", help="Keep this source; may be given again."
)
@as_json
def search(query: tuple[str, ...], k: int, sources: tuple[str, ...], as_json: bool) -> int:
    """Search the projection: handles, digests and how they were ranked; never text."""
    from secondbrain.retrieval.hybrid import HybridSecondBrain

    text = " ".join(query)
    context = HybridSecondBrain().context(text, k, list(sources) or None)
    if as_json:
        payload(context)
    else:
        _show(text, context)
    if context["state"] == "UNAVAILABLE":
        if not as_json:
            click.echo("secondbrain: the store fails its check; run `secondbrain verify`", err=True)
        return 1
    return 0 if context["ready"] else ABSTAINED


@click.command(epilog='Example: secondbrain explain "locked formula authority" invariant:ouroboros-doctrine')
@_query
@click.argument("node_id")
@click.option(
    "-k", type=click.IntRange(1, 12), default=6, show_default=True, help="Most handles of the search."
)
@as_json
def explain(query: tuple[str, ...], node_id: str, k: int, as_json: bool) -> int:
    """Say why NODE_ID stands where it stands for QUERY, or why it does not."""
    from secondbrain.retrieval.explain import explain as explained

    text = " ".join(query)
    found = explained(text, node_id, k)
    if as_json:
        payload(found)
        return 0
    rule = found["abstention"]
    facts(
        [
            ("outcome", found["outcome"]),
            ("node", f"{found['node_id']} · {found['handle']['note']}"),
            ("mode", found["mode"]),
            ("rank", _or_dash(found["rank"])),
            ("sparse", f"rank {_or_dash(found['sparse_rank'])}, bm25 {_or_dash(found['sparse_score'])}"),
            ("dense", f"rank {_or_dash(found['dense_rank'])}, score {_or_dash(found['dense_score'])}"),
            ("fused", f"rank {_or_dash(found['fused_rank'])}, score {_or_dash(found['fused_score'])}"),
            ("coverage", f"{found['coverage']:.3f}"),
            (
                "same source above",
                f"{found['nodes_of_same_source_above']}, limit {found['per_source_limit']}",
            ),
            (
                "grounded by",
                f"{rule['grounded_by']}; best candidate covers {rule['best_coverage']:.3f} "
                f"with {rule['best_held_terms']} terms",
            ),
        ]
    )
    table(
        ("term", "weight", "held"),
        [
            (text[t["start"] : t["end"]], f"{t['idf']:.2f}", "yes" if t["held"] else "no")
            for t in found["terms"]
        ],
    )
    return 0


@click.group()
def receipt() -> None:
    """Receipts: contexts that were kept."""


@receipt.command(
    "verify", epilog="Example: secondbrain search lambda --json > c.json; secondbrain receipt verify c.json"
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@as_json
def receipt_verify(file: Path, as_json: bool) -> int:
    """Verify a context payload in FILE against the open generation; exit 1 where it is STALE or TAMPERED."""
    from secondbrain.retrieval.verification import verify_receipt

    source = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        value = strict_json.parse(source.decode("utf-8"))
    except ValueError as error:
        reason = str(error) if isinstance(error, strict_json.NotStrict) else "not UTF-8"
        raise click.UsageError(f"{file} holds no strict JSON: {reason}") from None
    result = verify_receipt(value)
    if as_json:
        payload(result)
    else:
        click.echo(result["state"])
        for finding in result["findings"]:
            click.echo(f"{finding['check']}: {finding['detail']}")
        click.echo(f"This does not prove {'; nor '.join(result['not_proven'])}.")
    return 0 if result["ready"] else 1


def _show(query: str, context: wire.Context) -> None:
    receipt = context["ranking_receipt"]
    words = [query[term["start"] : term["end"]] for term in receipt["terms"]]
    if context["handles"]:
        table(
            ("#", "title, id", "source", "sha256", "matched"),
            [
                (
                    str(node["rank"]),
                    f"{handle['note']}\n{handle['nodeId']}",
                    handle["source"],
                    short(handle["sha256"]),
                    " ".join(dict.fromkeys(words[index] for index in node["held_terms"])),
                )
                for handle, node in zip(context["handles"], receipt["selected"], strict=True)
            ],
        )
    click.echo(
        f"{context['state']} · {receipt['mode']} · generation {short(context['generation_sha256'] or '-')}"
    )


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
