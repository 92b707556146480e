"""A running service for tests: the application behind a real server on a free port of this machine."""

import json
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import uvicorn
from conftest import ROOT, ROWS, write_projection

from secondbrain.digests import canonical_json
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.settings import Settings
from secondbrain.space.app import create_app, server_config
from secondbrain.space.logs import LOGGER, JsonLines
from secondbrain.store.build import build
from secondbrain.store.opened import Store

QUIET = Settings(rate_limit="")
"""Settings of a service that counts no client."""


@dataclass
class Service:
    """One running service."""

    client: httpx.Client
    store: Store
    log: list[str] = field(default_factory=list)
    """Its log lines so far."""

    def get(self, path: str, **options: Any) -> httpx.Response:
        """GET a path."""
        return self.client.get(path, **options)

    def post(self, path: str, body: object, **options: Any) -> httpx.Response:
        """POST a value as canonical JSON, or bytes as they are."""
        content = body if isinstance(body, bytes) else canonical_json(body).encode("utf-8")
        headers = {"content-type": "application/json", **options.pop("headers", {})}
        return self.client.post(path, content=content, headers=headers, **options)

    def raw(self, data: bytes) -> bytes:
        """Send bytes and return all that comes back until the server closes, or nothing more comes."""
        address = urlsplit(str(self.client.base_url))
        with socket.create_connection((address.hostname, address.port), timeout=5) as connection:
            connection.settimeout(2)
            try:
                connection.sendall(data)
                answer = b""
                while part := connection.recv(65536):
                    answer += part
            except (TimeoutError, ConnectionError):
                pass
            return answer


class _Kept(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self.setFormatter(JsonLines())
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record))


@contextmanager
def serving(
    store: Store,
    settings: Settings = QUIET,
    *,
    brain: HybridSecondBrain | None = None,
    **options: Any,
) -> Iterator[Service]:
    """Serve a store until the block ends."""
    options.setdefault("pages", ())
    app = create_app(settings, brain=brain or HybridSecondBrain(store), **options)
    log: list[str] = []
    kept = _Kept(log)
    loggers = [logging.getLogger(LOGGER), logging.getLogger("uvicorn.error")]
    for logger in loggers:
        logger.addHandler(kept)
        logger.setLevel(logging.INFO)
    server = uvicorn.Server(server_config(app, settings))
    # With its protocol named, as a server's own sockets are: asyncio sets TCP_NODELAY on no other.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(512)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started and thread.is_alive():
                thread.join(0.01)
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            with httpx.Client(base_url=url, timeout=10, trust_env=False) as client:
                yield Service(client, store, log)
        finally:
            server.should_exit = True
            thread.join()
            for logger in loggers:
                logger.removeHandler(kept)


def build_store(folder: Path, rows: list[dict[str, str]] | None = None, *, frontier: bool = True) -> Store:
    """Build a store of rows, by default the small projection, with the committed frontier set."""
    projection = write_projection(folder / "projection.jsonl", rows if rows is not None else ROWS)
    built = build(projection, folder / "store.db", frontier=ROOT / "frontier" if frontier else None)
    return Store(built.path)


def problem_of(answer: httpx.Response) -> dict[str, Any]:
    """Return the problem that an answer carries, its form checked."""
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = json.loads(answer.content)
    assert problem["status"] == answer.status_code
    assert problem["type"].startswith("/docs#")
    assert problem["instance"] == f"urn:uuid:{answer.headers['x-request-id']}"
    assert answer.content == canonical_json(problem).encode("utf-8")
    return problem
