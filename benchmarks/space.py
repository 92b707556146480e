"""How fast the service answers, with Datasette on the same file beside it. Prints a Markdown table.

    python benchmarks/space.py [--database FILE] [--seconds 10] [--requests 200000] [--datasette PROGRAM]

Everything runs on this machine over loopback, one worker each, driven by wrk with 64 connections and 200
distinct queries; no answer is cached. What is measured stands in turn: life, context, Datasette's search,
so that a busy machine is busy for all; the best of three rounds counts. The service is `secondbrain serve`
with its log written to a file, its rate limit on and set out of reach. A server has one core, wrk another.
"""

import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import apsw
import httpx

CONNECTIONS = 64
QUERIES = 200
ROUNDS = 3
_CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, WRK_CORE = {_CORES[0]}, {_CORES[-1]}
_LEAN = "&_nocount=1&_nofacet=1&_nosuggest=1"
_SERVE = "from secondbrain.space.app import serve; serve()"


@dataclass(frozen=True)
class Measured:
    """One run of wrk."""

    requests: int
    per_second: float
    p50_ms: float
    p99_ms: float
    errors: int


def main() -> None:
    """Measure and print."""
    options = arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        queries = distinct_queries(options.database)
        with service(options.database, folder) as (url, process):
            report(options, folder, queries, url, process)


def arguments() -> argparse.Namespace:
    """Return the command line's options."""
    packaged = Path(__file__).resolve().parent.parent / "secondbrain" / "data" / "second-brain.db"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database", type=Path, default=packaged)
    parser.add_argument("--seconds", type=int, default=10, help="of each run")
    parser.add_argument("--requests", type=int, default=200_000, help="of the run that watches memory")
    parser.add_argument(
        "--datasette", default=shutil.which("datasette"), help="its program; left out if none"
    )
    return parser.parse_args()


def distinct_queries(database: Path) -> list[str]:
    """Return 200 queries: four words each out of texts spread over the corpus."""
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    texts = [text for (text,) in connection.execute("SELECT text FROM chunk ORDER BY ordinal")]
    connection.close()
    found: dict[str, None] = {}
    for start in range(0, 400, 4):
        for text in texts:
            words = re.findall(r"[A-Za-z]{4,}", text)[start : start + 4]
            if len(words) == 4:
                found[" ".join(words)] = None
            if len(found) == QUERIES:
                return list(found)
    raise SystemExit("the corpus is too small for 200 distinct queries")


@contextmanager
def service(database: Path, folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run the service while the block runs."""
    port = free_port()
    settings = {
        "SECOND_BRAIN_CORPUS": str(database),
        "SECOND_BRAIN_PORT": str(port),
        "SECOND_BRAIN_RATE_LIMIT": "100000000/second",
    }
    with running([sys.executable, "-c", _SERVE], settings, folder / "service.log", port) as process:
        yield f"http://127.0.0.1:{port}", process


@contextmanager
def datasette(program: str, database: Path, folder: Path) -> Iterator[str]:
    """Run Datasette on a copy of the file while the block runs; it may not write the one that is served."""
    port = free_port()
    copy = folder / "brain.db"
    shutil.copy(database, copy)
    known = {"databases": {"brain": {"tables": {"chunk": {"fts_table": "chunk_fts", "fts_pk": "ordinal"}}}}}
    metadata = folder / "metadata.json"
    metadata.write_text(json.dumps(known))
    command = [program, "serve", "--immutable", str(copy), "--port", str(port), "--metadata", str(metadata)]
    with running(command, {}, folder / "datasette.log", port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def running(
    command: list[str], settings: dict[str, str], log: Path, port: int
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server, wait until it listens, end it."""
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command, env={**os.environ, **settings}, stdout=stream, stderr=subprocess.STDOUT
        )
        try:
            os.sched_setaffinity(process.pid, SERVER_CORE)
            wait(port, process, log)
            yield process
        finally:
            process.terminate()
            process.wait(20)


def wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when a port is listened to."""
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise SystemExit(f"the server did not start:\n{log.read_text()}")


def free_port() -> int:
    """Return a port that nobody listens to."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def wrk(url: str, paths: list[str], folder: Path, seconds: int) -> Measured:
    """Ask for paths in turn with wrk and return what it measured."""
    script = folder / "paths.lua"
    lines = ",\n".join(f'  "{path}"' for path in paths)
    script.write_text(
        f"local paths = {{\n{lines}\n}}\nlocal at = 0\n"
        "request = function()\n  at = at % #paths + 1\n  return wrk.format('GET', paths[at])\nend\n"
        "done = function(summary, latency)\n  local e = summary.errors\n"
        "  print(string.format('MEASURED %d %d %d %d %d', summary.requests, summary.duration,\n"
        "    latency:percentile(50), latency:percentile(99),\n"
        "    e.connect + e.read + e.write + e.status + e.timeout))\nend\n"
    )
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "20s", "-s", str(script), url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        os.sched_setaffinity(process.pid, WRK_CORE)
        out = process.communicate()[0]
    found = re.search(r"MEASURED (\d+) (\d+) (\d+) (\d+) (\d+)", out)
    assert found is not None, out
    requests, microseconds, p50, p99, errors = map(int, found.groups())
    return Measured(requests, requests / microseconds * 1e6, p50 / 1000, p99 / 1000, errors)


def report(
    options: argparse.Namespace, folder: Path, queries: list[str], url: str, process: subprocess.Popen[bytes]
) -> None:
    """Measure all in turn and print the table."""
    contexts = [f"/api/v1/hybrid?query={quote(query)}" for query in queries]
    targets = {"`/healthz`": (url, ["/healthz"]), "`/api/v1/hybrid`": (url, contexts)}
    if options.datasette:
        with datasette(options.datasette, options.database, folder) as other:
            # The same words, OR-ed as our own search has them.
            others = {
                "Datasette, table API": (other, [table_path(query) for query in queries]),
                "Datasette, table API, lean": (other, [table_path(query) + _LEAN for query in queries]),
                "Datasette, SQL": (other, [sql_path(query) for query in queries]),
            }
            for _, paths in others.values():
                assert httpx.get(other + paths[0], trust_env=False).json()["rows"], paths[0]
            rounds = measured_rounds({**targets, **others}, folder, options)
    else:
        rounds = measured_rounds(targets, folder, options)
    best = {name: max(found, key=lambda one: one.per_second) for name, found in rounds.items()}
    print(
        f"{options.database.name}, {QUERIES} queries, {CONNECTIONS} connections, "
        f"{options.seconds} s a run, best of {ROUNDS}, load average {os.getloadavg()[0]:.1f}\n"
    )
    print("| what | requests/s | of `/healthz` | p50 ms | p99 ms | p99/p50 | errors |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    life = best["`/healthz`"].per_second
    for name, one in best.items():
        errors = sum(run.errors for run in rounds[name])
        print(
            f"| {name} | {one.per_second:,.0f} | {one.per_second / life:.1%} | {one.p50_ms:.1f} | "
            f"{one.p99_ms:.1f} | {one.p99_ms / one.p50_ms:.1f} | {errors} |"
        )
    memory(options, contexts, folder, url, process)


def measured_rounds(
    targets: dict[str, tuple[str, list[str]]], folder: Path, options: argparse.Namespace
) -> dict[str, list[Measured]]:
    """Measure every target once a round, in turn."""
    for url, paths in targets.values():
        wrk(url, paths, folder, 1)  # warms caches and the interpreter
    found: dict[str, list[Measured]] = {name: [] for name in targets}
    for _ in range(ROUNDS):
        for name, (url, paths) in targets.items():
            found[name].append(wrk(url, paths, folder, options.seconds))
    return found


def table_path(query: str) -> str:
    """Return the address of a search by Datasette's table API: six rows, unranked."""
    expression = " OR ".join(f'"{word}"' for word in query.split())
    columns = "&".join(f"_col={name}" for name in ("node_id", "title", "source", "sha256"))
    return f"/brain/chunk.json?_search={quote(expression)}&_searchmode=raw&{columns}&_shape=objects&_size=6"


def sql_path(query: str) -> str:
    """Return the address of the same search by SQL, ranked: the least that Datasette can be asked for."""
    expression = " OR ".join(f'"{word}"' for word in query.split())
    sql = (
        "select chunk.node_id, chunk.title, chunk.source, chunk.sha256, bm25(chunk_fts, 2.0, 1.0) as score "
        "from chunk_fts join chunk on chunk.ordinal = chunk_fts.rowid "
        "where chunk_fts match :query order by score, chunk_fts.rowid limit 6"
    )
    return f"/brain.json?sql={quote(sql)}&query={quote(expression)}&_shape=objects"


def memory(
    options: argparse.Namespace, contexts: list[str], folder: Path, url: str, process: subprocess.Popen[bytes]
) -> None:
    """Ask until the number of requests is reached; print how resident memory went."""
    done, errors, sizes = 0, 0, [resident_mib(process.pid)]
    while done < options.requests:
        one = wrk(url, contexts, folder, options.seconds)
        done, errors = done + one.requests, errors + one.errors
        sizes.append(resident_mib(process.pid))
    quarter = max(1, len(sizes) // 4)
    growth = statistics.mean(sizes[-quarter:]) / statistics.mean(sizes[:quarter]) - 1
    print(
        f"\n{done:,} requests for contexts: {errors} errors; resident memory {sizes[0]:.1f} MiB at first, "
        f"{sizes[-1]:.1f} MiB at last, {growth:+.1%} from the first to the last quarter."
    )


def resident_mib(pid: int) -> float:
    """Return the resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
