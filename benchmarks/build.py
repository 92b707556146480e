"""How fast a projection is built, and in how much memory: a Markdown table.

    python benchmarks/build.py [ROWS]…        10000 50000 100000 rows unless given

Rows are ASCII, as English prose is: about 40 words drawn from 20,000 by Zipf's law, the same in each run.
Each build runs in a process of its own. "rows" are those of admission, digests, triggers, preparation of
text, bulk index and ``optimize``; the audit of the finished file is timed apart. "CPU" is what the process
itself used: on a machine that does other work too it says more than the clock. The last line is the
packaged projection, audit included.
"""

import hashlib
import itertools
import json
import platform
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import apsw

from secondbrain.store.build import build
from secondbrain.store.export import projection_lines
from secondbrain.store.locate import default_store

ROWS = (10_000, 50_000, 100_000)
WORDS = 20_000


def write_rows(path: Path, count: int) -> None:
    """Write a projection of so many rows."""
    chance = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(3, 10))) for _ in range(WORDS)]
    weights = list(itertools.accumulate(1 / (place + 5) for place in range(WORDS)))
    with path.open("w", encoding="ascii") as stream:
        for number in range(count):
            text = (
                " ".join(chance.choices(words, cum_weights=weights, k=chance.randint(20, 60))).capitalize()
                + "."
            )
            row = {
                "id": f"doc:{number:07}",
                "source": f"doc/{number % 500}",
                "sourceId": str(number),
                "title": " ".join(chance.choices(words, cum_weights=weights, k=4)),
                "text": text,
                "sha256": hashlib.sha256(text.encode("ascii")).hexdigest(),
            }
            stream.write(json.dumps(row) + "\n")


def measure(projection: Path, out: Path) -> None:
    """Build, and print what it took as JSON: seconds on the clock and of CPU, without and with the audit."""
    marks: dict[str, tuple[float, float]] = {}

    def mark(stage: str, done: int, total: int) -> None:
        marks.setdefault(stage, (time.perf_counter(), time.process_time()))

    mark("start", 0, 0)
    built = build(projection, out, progress=mark)
    mark("end", 0, 0)

    def seconds(stage: str) -> list[float]:
        return [at - start for at, start in zip(marks[stage], marks["start"], strict=True)]

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([built.chunks, *seconds("verify"), *seconds("end"), peak]))


def measured(projection: Path, folder: Path) -> list[float]:
    command = [sys.executable, __file__, "--measure", str(projection), str(folder / "out.db")]
    found: list[float] = json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )
    return found


def main(counts: list[int]) -> None:
    """Print the table."""
    versions = (
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, apsw {apsw.apsw_version()}"
    )
    print(f"{versions}, {platform.machine()}\n")
    print(
        "| projection | MB | rows/s | rows/s of CPU | with audit, rows/s | with audit, s | peak memory, MiB |"
    )
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in counts:
            write_rows(folder / "p.jsonl", count)
            print_line(f"{count:,} rows", folder / "p.jsonl", folder)
        packaged = folder / "packaged.jsonl"
        packaged.write_text(
            "".join(projection_lines(default_store().reader())), encoding="utf-8", newline="\n"
        )
        print_line("the packaged one", packaged, folder)


def print_line(label: str, projection: Path, folder: Path) -> None:
    rows, wall, cpu, wall_audited, _, peak = measured(projection, folder)
    size = projection.stat().st_size / 1e6
    print(
        f"| {label} | {size:.1f} | {rows / wall:,.0f} | {rows / cpu:,.0f} | {rows / wall_audited:,.0f} "
        f"| {wall_audited:.2f} | {peak:.0f} |",
        flush=True,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        main([int(argument) for argument in sys.argv[1:]] or list(ROWS))
