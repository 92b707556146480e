"""No text of a chunk or candidate is in any answer of any route: every run of 40 characters is looked for."""

import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw
import pytest
from conftest import ROOT
from space_service import Service, serving

from secondbrain import resources
from secondbrain.projection.admission import projection_line
from secondbrain.projection.documents import harvest
from secondbrain.store.build import build
from secondbrain.store.opened import Store

RUN = 40


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The authored corpus and the committed frontier set, with the page and MCP's face left out."""
    folder = tmp_path_factory.mktemp("store")
    projection = folder / "projection.jsonl"
    lines = map(projection_line, harvest(ROOT / "corpus").rows)
    projection.write_text("".join(lines), encoding="utf-8", newline="\n")
    built = build(projection, folder / "store.db", frontier=resources.frontier_folder())
    with serving(Store(built.path), pages=None) as running:
        yield running


def runs(text: str) -> set[str]:
    """Return every run of RUN characters of a text."""
    return {text[at : at + RUN] for at in range(len(text) - RUN + 1)}


def strings(value: Any) -> Iterator[str]:
    """Return every string of a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in (*value.keys(), *value.values()):
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def secret_runs(path: Path) -> set[str]:
    """Return the runs of all texts, without those that a public field of any row has too."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    chunks = connection.execute("SELECT node_id, source, source_id, title, text FROM chunk").fetchall()
    candidates = [json.loads(line) for line in (ROOT / "frontier/candidates.jsonl").read_text().splitlines()]
    assert len(chunks) == 575
    assert len(candidates) == connection.execute("SELECT count(*) FROM frontier_candidate").fetchone()[0]
    secret: set[str] = set()
    shown: set[str] = set()
    for *public, text in chunks:
        secret |= runs(text)
        for field in public:
            shown |= runs(field)
    for candidate in candidates:
        secret |= runs(candidate["content"])
        for name, value in candidate.items():
            if name != "content":
                shown |= runs(value)
    connection.close()
    return secret - shown


def answers(service: Service) -> Iterator[tuple[str, str]]:
    """Return the answer of every route: with a query from every chunk, and with every candidate."""
    connection = apsw.Connection(str(service.store.path), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute("SELECT title, text FROM chunk").fetchall()
    connection.close()
    paths = ["/healthz", "/health", "/readyz", "/version", "/openapi.json", "/docs", "/docs.css"]
    paths += [f"/api/v1/{name}" for name in ("index", "status", "manifest", "retrieval-capabilities")]
    paths += ["/api/v1/frontier", "/api/v1/frontier/sources", "/api/v1/anatomy", "/nothing"]
    for path in paths:
        yield path, service.get(path).text
    for number, (title, text) in enumerate(rows):
        # What a chunk says, its words turned round: an answer that repeated the query would give itself away.
        words = " ".join(reversed(text.split()))[:400]
        for path in ("/api/v1/hybrid", "/api/v1/retrieve"):
            yield path, service.get(path, params={"query": words, "k": 12}).text
        if number % 5 == 0:
            yield "/api/v1/hybrid", service.post("/api/v1/hybrid", {"query": text[:2000], "k": 12}).text
            yield "/api/v1/navigator", service.get("/api/v1/navigator", params={"query": title}).text
            yield "refused", service.get("/api/v1/hybrid", params={"query": "a", "sources": text[:80]}).text
            yield "refused", service.get("/api/v1/hybrid", params={"query": "a", "k": text[:80]}).text
            yield "refused", service.get("/api/v1/hybrid", params={text[:80]: "a"}).text
            yield "refused", service.get("/nothing/" + quote(text[:80], safe="")).text
    context = service.get("/api/v1/hybrid", params={"query": "lambda"}).json()
    yield "verified", service.post("/api/v1/receipts/verify", context).text
    for line in (ROOT / "frontier/candidates.jsonl").read_text().splitlines():
        candidate: dict[str, Any] = json.loads(line)
        yield "candidate", service.get(f"/api/v1/frontier/candidates/{candidate['id']}").text
        query = " ".join(reversed(candidate["content"].split()))[:400]
        yield "found", service.get("/api/v1/frontier/search", params={"query": query, "k": 24}).text


def test_no_answer_holds_a_run_of_any_text(service: Service) -> None:
    secret = secret_runs(service.store.path)
    asked = 0
    seen: set[str] = set()
    for route, answer in answers(service):
        asked += 1
        for text in strings(json.loads(answer) if answer.startswith("{") else unescape(answer)):
            if text in seen:
                continue
            seen.add(text)
            found = next((run for run in runs(text) if run in secret), None)
            assert found is None, f"{route}: {found!r}"
    assert asked > 1_800
    log = "".join(service.log)
    assert not any(run in secret for run in runs(log))
