"""``eval``: measure ranking quality on a collection in BEIR form."""

import tempfile
from pathlib import Path

import click

from secondbrain.cli.output import as_json, facts, payload

_INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)
_OUTPUT = click.Path(dir_okay=False, path_type=Path)


@click.command(
    "eval", epilog="Example: secondbrain eval corpus.jsonl queries.jsonl qrels.tsv --chart result.svg"
)
@click.argument("corpus", type=_INPUT)
@click.argument("queries", type=_INPUT)
@click.argument("qrels", type=_INPUT)
@click.option(
    "--store", "database", type=_INPUT, help="A database that was built of this corpus; else one is built."
)
@click.option(
    "--context", "as_context", is_flag=True, help="Measure what context() gives, not the ranked leg."
)
@click.option("--run", "run_file", type=_OUTPUT, help="Write the run in TREC form.")
@click.option("--chart", type=_OUTPUT, help="Write a chart of per-query results, SVG.")
@as_json
def evaluate(
    corpus: Path,
    queries: Path,
    qrels: Path,
    database: Path | None,
    as_context: bool,
    run_file: Path | None,
    chart: Path | None,
    as_json: bool,
) -> int:
    """Measure nDCG@10, recall@100 and MRR@10 of the ranked leg on a collection in BEIR form."""
    from secondbrain import wire
    from secondbrain.evaluation import beir, measure
    from secondbrain.evaluation.chart import bars, svg
    from secondbrain.retrieval.hybrid import HybridSecondBrain
    from secondbrain.store.opened import Store

    judged = beir.judgements(qrels)
    texts = {query_id: text for query_id, text in beir.queries(queries).items() if query_id in judged}
    with tempfile.TemporaryDirectory(prefix="second-brain-eval-") as folder:
        store = Store(database or _built(corpus, Path(folder)))
        generation = store.snapshot().generation_sha256
        documents = store.snapshot().chunk_count
        known = measure.known_documents(store, judged)
        if not known:
            raise click.UsageError(f"{qrels}: judges no document of this corpus")
        if as_context:
            run, refused = measure.context_run(HybridSecondBrain(store), texts)
        else:
            run, refused = measure.leg_run(store, texts)
    result = measure.evaluate(run, judged, refused)
    if run_file is not None:
        run_file.write_text(_trec(run), encoding="utf-8")
    if chart is not None:
        chart.write_text(svg(result.per_query, corpus.parent.name or corpus.stem), encoding="utf-8")
    if as_json:
        found: wire.Evaluation = {
            "schema": "szl.second-brain.evaluation/v1",
            "measured": "CONTEXT" if as_context else "SPARSE_LEG",
            "generation_sha256": generation,
            "documents": documents,
            "queries": result.queries,
            "refused": result.refused,
            "measures": result.means,
        }
        payload(found)
    else:
        facts([(name, f"{value:.4f}") for name, value in result.means.items()])
        facts([("queries", result.queries), ("documents", documents), ("refused", result.refused)])
        click.echo(f"nDCG@10, worst to best: {bars(result.per_query)}")
    return 0


def _built(corpus: Path, folder: Path) -> Path:
    from secondbrain.evaluation.beir import documents
    from secondbrain.projection.admission import projection_line
    from secondbrain.store.build import build

    projection = folder / "projection.jsonl"
    with projection.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(map(projection_line, documents(corpus)))
    return build(projection, folder / "collection.db").path


def _trec(run: dict[str, list[tuple[str, float]]]) -> str:
    return "".join(
        f"{query_id} Q0 {document_id} {rank} {score!r} secondbrain\n"
        for query_id, found in run.items()
        for rank, (document_id, score) in enumerate(found, 1)
    )
