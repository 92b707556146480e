"""Time and memory of a search of the packaged corpus, beside bare statements and a scan, in one run.

Usage: search.py [DB] [--rounds N] — DB is a built file; without it, corpus/ is built into a temporary one.
The questions are those of tests/data/known-items.jsonl. Prints Markdown tables. Times are of this machine
and its load: compare rows of one run, not runs.
"""

import argparse
import json
import math
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from secondbrain import HybridSecondBrain, Store
from secondbrain.projection.admission import Row
from secondbrain.projection.documents import harvest
from secondbrain.resources import statement
from secondbrain.retrieval.asking import parsed
from secondbrain.retrieval.bm25 import DEPTH
from secondbrain.store.build import build
from secondbrain.store.connect import open_reader
from secondbrain.text import prepared

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = ROOT / "tests" / "data" / "known-items.jsonl"
BY_RANK = "SELECT rowid, rank FROM chunk_fts WHERE chunk_fts MATCH ? ORDER BY rank LIMIT ?"
SECONDS = 3.0
FIRST_CONTEXT = """
import sys
from secondbrain import HybridSecondBrain, Store
HybridSecondBrain(Store(sys.argv[1])).context(sys.argv[2])
"""
# Asks questions until its time is up, from the moment a line comes in; prints how many, and its peak in KiB.
# The peak is VmHWM: a child's ru_maxrss begins with what its parent held.
WORKER = """
import json, re, sys, time
from secondbrain import HybridSecondBrain, Store
brain = HybridSecondBrain(Store(sys.argv[1]))
questions = json.loads(sys.argv[2])
for question in questions:
    brain.context(question)
print("ready", flush=True)
sys.stdin.readline()
end, asked = time.perf_counter() + float(sys.argv[3]), 0
while time.perf_counter() < end:
    brain.context(questions[asked % len(questions)])
    asked += 1
print(asked, re.search("VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1], flush=True)
"""


def times(ask: Callable[[str], object], questions: Sequence[str], rounds: int) -> list[float]:
    """Return the seconds of every question, after one round to warm up; sorted."""
    for question in questions:
        ask(question)
    spent = []
    for _ in range(rounds):
        for question in questions:
            start = time.perf_counter()
            ask(question)
            spent.append(time.perf_counter() - start)
    return sorted(spent)


def scan_of(store: Store) -> Callable[[str], object]:
    """Return a search that scores every chunk in Python: BM25, k1 1.2, b 0.75, one field."""
    reader = store.reader()
    chunks = [
        Counter(reader.tokens(prepared(f"{title} {text}"))) for _, title, text in reader.rows("read/texts")
    ]
    lengths = [sum(chunk.values()) for chunk in chunks]
    average = sum(lengths) / len(lengths)
    norms = [1.2 * (0.25 + 0.75 * length / average) for length in lengths]
    holding = Counter(word for chunk in chunks for word in chunk)

    def scan(question: str) -> object:
        words = [term.token for term in parsed(reader, question).terms]
        weights = [
            (word, math.log(1 + (len(chunks) - holding[word] + 0.5) / (holding[word] + 0.5)))
            for word in words
        ]
        scored = []
        for at, chunk in enumerate(chunks):
            score = 0.0
            for word, weight in weights:
                if times_ := chunk.get(word):
                    score += weight * times_ * 2.2 / (times_ + norms[at])
            if score:
                scored.append((-score, at))
        return sorted(scored)[:DEPTH]

    return scan


def statement_of(store: Store, sql: str) -> Callable[[str], object]:
    """Return a search that runs one bare statement; the query is parsed beforehand."""
    connection: apsw.Connection = open_reader(store.path)
    reader = store.reader()
    expressions: dict[str, str] = {}

    def run(question: str) -> object:
        expression = expressions.get(question)
        if expression is None:
            expression = expressions[question] = parsed(reader, question).expression()
        return connection.execute(sql, (expression, DEPTH)).fetchall()

    return run


def workers(store: Store, questions: Sequence[str], count: int) -> tuple[float, float]:
    """Return contexts a second of ``count`` processes together, and the largest peak memory in MiB."""
    command = [sys.executable, "-c", WORKER, str(store.path), json.dumps(questions), str(SECONDS)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for _ in range(count)
    ]
    for one in running:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in running:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    results = [tuple(map(int, one.communicate()[0].split())) for one in running]
    return sum(asked for asked, _ in results) / SECONDS, max(peak for _, peak in results) / 1024


def fresh_process(arguments: Sequence[str]) -> float:
    """Return the median wall time of seven runs of a fresh interpreter."""
    spent = []
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, cwd=ROOT)
        spent.append(time.perf_counter() - start)
    return statistics.median(spent)


@contextmanager
def opened(path: Path | None) -> Iterator[Store]:
    """Yield the store of a built file, or of the packaged corpus, built for this run."""
    if path is not None:
        yield Store(path)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows: list[Row] = harvest(ROOT / "corpus").rows
        lines = "".join(json.dumps(row.payload(), ensure_ascii=False) + "\n" for row in rows)
        (folder / "corpus.jsonl").write_text(lines, encoding="utf-8")
        aliases = ROOT / "corpus" / "aliases.toml"
        built = build(
            folder / "corpus.jsonl", folder / "corpus.db", aliases=aliases if aliases.exists() else None
        )
        yield Store(built.path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("db", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    questions = [json.loads(line)["query"] for line in QUESTIONS.read_text("utf-8").splitlines()]
    with opened(options.db) as store:
        chunks = store.snapshot().chunk_count
        print(
            f"{len(questions)} questions over {chunks} chunks; Python {platform.python_version()}, "
            f"SQLite {apsw.sqlite_lib_version()}\n"
        )
        print("| search, one thread | median ms | p99 ms |")
        print("|---|---|---|")
        searches: dict[str, Callable[[str], object]] = {
            "`context()`": HybridSecondBrain(store).context,
            "bare `ORDER BY bm25(…), rowid`": statement_of(store, statement("read/bm25")),
            "bare `ORDER BY rank`": statement_of(store, BY_RANK),
            "scan in Python": scan_of(store),
        }
        for name, search in searches.items():
            spent = times(search, questions, options.rounds)
            print(
                f"| {name} | {spent[len(spent) // 2] * 1e3:.3f} | {spent[int(len(spent) * 0.99)] * 1e3:.3f} |"
            )
        one, peak = workers(store, questions, 1)
        two, _ = workers(store, questions, 2)
        print("\n| whole processes | |")
        print("|---|---|")
        print(f"| contexts a second, one process, one thread | {one:,.0f} |")
        print(f"| contexts a second, two processes | {two:,.0f} ({two / one:.2f} ×) |")
        print(f"| peak memory of a search process | {peak:.1f} MiB |")
        first = fresh_process(["-c", FIRST_CONTEXT, str(store.path), questions[0]])
        print(f"| fresh process: import, open, first context | {first:.3f} s |")
        print(f"| fresh process that does nothing | {fresh_process(['-c', 'pass']):.3f} s |")


if __name__ == "__main__":
    main()
