"""nDCG@10 of the ranked leg on collections in BEIR form, beside bm25s and tantivy, in one run.

Usage: quality.py COLLECTIONS [NAME…] — COLLECTIONS is a folder of folders with corpus.jsonl, queries.jsonl
and qrels.tsv. All engines get title and text, return their first 128 documents, and are scored by the same
evaluator. bm25s: method lucene, English stop words, PyStemmer's English stems. tantivy: en_stem, one field,
words joined by OR. Second Brain: its one configuration. An engine that is not installed has no column.
"""

import platform
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import apsw

from secondbrain.evaluation import beir, measure
from secondbrain.projection.admission import Row, projection_line
from secondbrain.retrieval.bm25 import DEPTH
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.store.build import build
from secondbrain.store.opened import Store

Engine = Callable[[list[Row], Mapping[str, str]], measure.Run]


def second_brain(rows: list[Row], queries: Mapping[str, str]) -> measure.Run:
    with tempfile.TemporaryDirectory() as folder:
        return measure.leg_run(_store(rows, Path(folder)), queries)[0]


def bm25s_engine(rows: list[Row], queries: Mapping[str, str]) -> measure.Run:
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    texts = [f"{row.title} {row.text}" for row in rows]
    retriever = bm25s.BM25(method="lucene")
    retriever.index(
        bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False
    )
    depth = min(DEPTH, len(rows))
    run: measure.Run = {}
    for query_id, text in queries.items():
        tokens = bm25s.tokenize([text], stopwords="en", stemmer=stemmer, show_progress=False)
        found, scores = retriever.retrieve(tokens, k=depth, show_progress=False)
        pairs = zip(found[0], scores[0], strict=True)
        run[query_id] = [(rows[int(at)].id, float(score)) for at, score in pairs if score > 0]
    return run


def tantivy_engine(rows: list[Row], queries: Mapping[str, str]) -> measure.Run:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False, tokenizer_name="en_stem")
    builder.add_integer_field("at", stored=True, indexed=False)
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for at, row in enumerate(rows):
        writer.add_document(tantivy.Document(text=f"{row.title} {row.text}", at=at))
    writer.commit()
    index.reload()
    searcher = index.searcher()
    run: measure.Run = {}
    for query_id, text in queries.items():
        words = " ".join(f'"{word}"' for word in re.findall(r"\w+", text.lower()))
        # The lenient parser: words that its tokenizer drops leave an empty query, not an error.
        hits = searcher.search(index.parse_query_lenient(words, ["text"])[0], DEPTH).hits if words else []
        run[query_id] = [(rows[searcher.doc(address)["at"][0]].id, score) for score, address in hits]
    return run


ENGINES: dict[str, tuple[str, Engine]] = {
    "Second Brain": ("szl-second-brain", second_brain),
    "bm25s": ("bm25s", bm25s_engine),
    "tantivy": ("tantivy", tantivy_engine),
}


def main(collections: Path, names: list[str]) -> None:
    engines = {
        name: (_version(package), run) for name, (package, run) in ENGINES.items() if _version(package)
    }
    columns = " | ".join(f"{name} {found}" for name, (found, _) in engines.items())
    python, sqlite = platform.python_version(), apsw.sqlite_lib_version()
    print(f"Python {python}, SQLite {sqlite}, {time.strftime('%Y-%m-%d')}\n")
    print(f"| collection | documents | queries | {columns} | R@100 | MRR@10 | abstained |")
    print("|---|---|---|" + "---|" * len(engines) + "---|---|---|")
    for name in names or sorted(folder.name for folder in collections.iterdir() if folder.is_dir()):
        folder = collections / name
        rows = list(beir.documents(folder / "corpus.jsonl"))
        judged = beir.judgements(folder / "qrels.tsv")
        queries = {key: text for key, text in beir.queries(folder / "queries.jsonl").items() if key in judged}
        results = {
            engine: measure.evaluate(run(rows, queries), judged) for engine, (_, run) in engines.items()
        }
        figures = " | ".join(f"{result.means['nDCG@10']:.4f}" for result in results.values())
        own = results["Second Brain"].means
        print(
            f"| {name} | {len(rows)} | {len(queries)} | {figures} | {own['recall@100']:.3f} "
            f"| {own['MRR@10']:.3f} | {_abstained(rows, queries):.1%} |",
            flush=True,
        )


def _abstained(rows: list[Row], queries: Mapping[str, str]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        brain = HybridSecondBrain(_store(rows, Path(folder)))
        states = [brain.context(text, 1)["state"] for text in queries.values() if len(text) <= 2000]
    return sum(state == "ABSTAIN_NO_GROUNDED_HANDLES" for state in states) / len(states)


def _store(rows: list[Row], folder: Path) -> Store:
    projection = folder / "projection.jsonl"
    projection.write_text("".join(map(projection_line, rows)), encoding="utf-8", newline="\n")
    return Store(build(projection, folder / "collection.db").path)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: quality.py COLLECTIONS [NAME…]")
    main(Path(sys.argv[1]), sys.argv[2:])
