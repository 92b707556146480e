"""A GitHub for tests: a real HTTP server on 127.0.0.1, and a real bare git repository.

``GitHubSimulator`` answers for both hosts: commits, compare, contents, raw files, pull requests. Its
``transport`` carries requests for the real hosts to it and leaves them as they are, ``Host`` included.
``fail(step, source_id, fault)`` makes one kind of answer bad in one way.

``ReviewRepository`` is a bare repository whose hooks log every update of a branch, and a clone whose
``origin`` is the address on GitHub, which git is told to find on this disk.
"""

import base64
import contextlib
import hashlib
import json
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, urlsplit

import httpx
from discovery_payloads import CONTRACTS, REPOSITORY_ROOT, payloads

from secondbrain.discovery.fetch import git_blob_id
from secondbrain.discovery.git import REPOSITORY

FAULTS = (
    "rate_limit_for_long",
    "rate_limit_reset_passed",
    "server_error",
    "not_json",
    "slow",
    "cut_off",
    "too_large",
    "compressed",
    "redirect_elsewhere",
    "redirect_same_host",
    "redirect_loop",
    "other_bytes",
    "old_revision",
    "short_revision",
    "short_blob",
    "gone",
)


@dataclass(frozen=True)
class SeenRequest:
    """A request as it arrived."""

    method: str
    host: str
    path: str
    authorization: str | None


@dataclass
class GitHubSimulator:
    """The seven sources at their revisions, pull requests, and what goes wrong."""

    revisions: dict[str, list[tuple[str, bytes]]] = field(default_factory=dict)
    faults: dict[tuple[str, str], str] = field(default_factory=dict)
    pulls: list[dict] = field(default_factory=list)
    pull_answer: tuple[int, dict] | None = None
    """What a new pull request is answered with, where it is not opened."""
    diverged: bool = False
    seen: list[SeenRequest] = field(default_factory=list)
    before_answer: Callable[[str], None] = lambda step: None
    """Called with the step before each answer: for what happens elsewhere meanwhile."""

    def __post_init__(self) -> None:
        for source_id, data in payloads().items():
            self.publish(source_id, data)

    def __enter__(self) -> Self:
        simulator = self

        class Handler(_Handler):
            github = simulator

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def transport(self) -> httpx.BaseTransport:
        """A transport that finds both hosts at this server."""
        return _ToSimulator(self.server.server_address[1])

    def publish(self, source_id: str, data: bytes) -> str:
        """Put a new commit of a source on main; return its id."""
        history = self.revisions.setdefault(source_id, [])
        named = f"{source_id}:{len(history)}".encode() + data
        history.append((hashlib.sha1(named, usedforsecurity=False).hexdigest(), data))
        return history[-1][0]

    def fail(self, step: str, source_id: str, fault: str) -> None:
        """Make a step's answers bad: ``commits``, ``compare``, ``contents``, ``raw`` or ``pulls``."""
        assert fault in FAULTS, fault
        self.faults[step, source_id] = fault


class _ToSimulator(httpx.BaseTransport):
    def __init__(self, port: int) -> None:
        self.port = port
        self.inner = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        assert request.url.scheme == "https", "discovery speaks HTTPS alone"
        local = request.url.copy_with(scheme="http", host="127.0.0.1", port=self.port)
        return self.inner.handle_request(
            httpx.Request(
                request.method,
                local,
                headers=request.headers,
                stream=request.stream,
                extensions=request.extensions,
            )
        )

    def close(self) -> None:
        self.inner.close()


class _Handler(BaseHTTPRequestHandler):
    github: GitHubSimulator
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._dispatch()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def _dispatch(self) -> None:
        host, authorization = self.headers["Host"], self.headers["Authorization"]
        self.github.seen.append(SeenRequest(self.command, host, self.path, authorization))
        address = urlsplit(self.path.replace("/moved-here", ""))
        if host == "raw.githubusercontent.com":
            self._answer_raw(address.path)
        elif host == "api.github.com":
            owner, name, step, *rest = address.path.removeprefix("/repos/").split("/")
            query = {key: values[0] for key, values in parse_qs(address.query).items()}
            self._answer_api(f"{owner}/{name}", step, "/".join(rest), query)
        else:
            self._send(500, b"no such host")

    def _answer_raw(self, path: str) -> None:
        owner, name, revision, *rest = path[1:].split("/")
        source_id = _source_of(f"{owner}/{name}")
        self.github.before_answer("raw")
        data = dict(self.github.revisions[source_id]).get(revision)
        if data is None or "/".join(rest) != CONTRACTS[source_id].path:
            self._send(404, b"404: Not Found")
        else:
            self._send_or_fail("raw", source_id, data, "text/plain")

    def _answer_api(self, repository: str, step: str, rest: str, query: dict[str, str]) -> None:
        self.github.before_answer(step)
        if repository == REPOSITORY and step == "pulls":
            self._answer_pulls(query)
            return
        source_id = _source_of(repository)
        answers = {"commits": self._commits, "compare": self._compare, "contents": self._contents}
        answer = answers[step](source_id, rest, query)
        self._send_or_fail(step, source_id, json.dumps(answer).encode(), "application/json")

    def _commits(self, source_id: str, rest: str, query: dict[str, str]) -> list[dict]:
        assert query == {"sha": "main", "path": CONTRACTS[source_id].path, "per_page": "1"}
        history = self.github.revisions[source_id]
        fault = self.github.faults.get(("commits", source_id))
        revision = history[0 if fault == "old_revision" else -1][0]
        return [{"sha": revision[:12] if fault == "short_revision" else revision}]

    def _compare(self, source_id: str, rest: str, query: dict[str, str]) -> dict:
        base, head = rest.split("...")
        order = [revision for revision, _ in self.github.revisions[source_id]]
        if self.github.diverged or base not in order:
            return {"status": "diverged"}
        return {"status": "ahead" if order.index(base) < order.index(head) else "behind"}

    def _contents(self, source_id: str, rest: str, query: dict[str, str]) -> dict:
        data = dict(self.github.revisions[source_id])[query["ref"]]
        fault = self.github.faults.get(("contents", source_id))
        blob = git_blob_id(data)
        return {
            "type": "file",
            "path": rest,
            "sha": blob[:12] if fault == "short_blob" else blob,
            "content": base64.b64encode(data).decode(),
        }

    def _answer_pulls(self, query: dict[str, str]) -> None:
        if self.command == "GET":
            self._send_or_fail("pulls", "", json.dumps(self.github.pulls).encode(), "application/json")
            return
        assert self.command == "POST"
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.github.pull_answer is not None:
            status, said = self.github.pull_answer
            self._send(status, json.dumps(said).encode())
            return
        number = len(self.github.pulls) + 1
        owner = REPOSITORY.split("/")[0]
        self.github.pulls.append(
            {"number": number, "head": {"label": f"{owner}:{asked['head']}"}, **_rest(asked)}
        )
        self._send(201, json.dumps(self.github.pulls[-1]).encode())

    def _send_or_fail(self, step: str, source_id: str, body: bytes, kind: str) -> None:
        fault = self.github.faults.get((step, source_id))
        moved = self.path.startswith("/moved-here")
        if fault == "rate_limit_for_long":
            self._send(429, b"slow down", **{"Retry-After": "3600"})
        elif fault == "rate_limit_reset_passed":
            del self.github.faults[step, source_id]  # once
            past = str(int(time.time()) - 1)
            self._send(403, b"limit", **{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": past})
        elif fault == "server_error":
            self._send(500, b"oops")
        elif fault == "gone":
            self._send(404, b"{}")
        elif fault == "not_json":
            self._send(200, b"<html>")
        elif fault == "slow":
            self._drip(body)
        elif fault == "cut_off":
            self._send(200, body[:-1], length=len(body))
        elif fault == "too_large":
            self._send(200, body + b" " * (5 * 1024 * 1024))
        elif fault == "compressed":
            self._send(200, body, **{"Content-Encoding": "gzip"})
        elif fault == "redirect_elsewhere":
            self._send(302, b"", Location=f"https://127.0.0.1{self.path}")
        elif fault == "redirect_loop" or (fault == "redirect_same_host" and not moved):
            self._send(302, b"", Location=f"/moved-here{self.path}")
        elif fault == "other_bytes":
            self._send(200, body + b"\n")
        else:
            self._send(200, body, **{"Content-Type": kind})

    def _send(self, status: int, body: bytes, length: int | None = None, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        with contextlib.suppress(OSError):  # the client had enough
            self.wfile.write(body)
        self.close_connection = True

    def _drip(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            for byte in body:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(0.02)
        except OSError:
            pass
        self.close_connection = True


def _source_of(repository: str) -> str:
    return next(source_id for source_id, known in CONTRACTS.items() if known.repository == repository)


def _rest(asked: dict) -> dict:
    return {key: asked[key] for key in ("title", "body", "base")}


def git(folder: Path, *arguments: str) -> str:
    """Run git for a test and return what it printed."""
    settings = (
        "-c",
        "user.name=Test",
        "-c",
        "user.email=test@example.org",
        "-c",
        "protocol.file.allow=always",
    )
    command = ["git", "-C", str(folder), *settings, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class ReviewRepository:
    """The repository of proposals: bare, with logging hooks, and a clone of it."""

    def __init__(self, folder: Path) -> None:
        self.bare, self.clone, self.log = folder / "origin.git", folder / "clone", folder / "updates.log"
        self.bare.mkdir(parents=True)
        git(self.bare, "init", "--quiet", "--bare", "--initial-branch=main")
        seed = folder / "seed"
        git(folder, "init", "--quiet", "--initial-branch=main", str(seed))
        (seed / "frontier").mkdir()
        contracts = (REPOSITORY_ROOT / "frontier" / "sources.toml").read_bytes()
        (seed / "frontier" / "sources.toml").write_bytes(contracts)
        (seed / "README.md").write_text("A repository.\n")
        git(seed, "add", ".")
        git(seed, "commit", "--quiet", "--message", "Begin")
        git(seed, "push", "--quiet", str(self.bare), "main")
        self.seed = seed
        git(folder, "clone", "--quiet", str(self.bare), str(self.clone))
        address = f"https://github.com/{REPOSITORY}.git"
        git(self.clone, "config", "remote.origin.url", address)
        git(self.clone, "config", f"url.{self.bare}.insteadOf", address)
        self._log_updates()

    def _log_updates(self) -> None:
        # Written once a ref, for every create, update, forced update and delete that git is asked for.
        hook = self.bare / "hooks" / "update"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f'#!/bin/sh\necho "$1 $2 $3" >> "{self.log}"\n')
        hook.chmod(0o755)

    def updates(self) -> list[tuple[str, str, str]]:
        """Return every update asked for since the beginning: branch, old commit, new commit."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [(ref, old, new) for ref, old, new in (line.split(" ") for line in lines)]

    def refs(self) -> dict[str, str]:
        """Return the refs of the bare repository."""
        listed = git(self.bare, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split(" ") for line in listed)

    def move_main(self, files: dict[str, bytes] | None = None) -> str:
        """Put a commit on main from elsewhere; return its id. The hooks do not log it."""
        for name, data in (files or {"NEWS.md": time.monotonic_ns().to_bytes(8)}).items():
            path = self.seed / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        git(self.seed, "add", ".")
        git(self.seed, "commit", "--quiet", "--message", "Move")
        before = self.log.read_text() if self.log.exists() else ""
        git(self.seed, "push", "--quiet", str(self.bare), "main")
        self.log.write_text(before)
        return git(self.seed, "rev-parse", "HEAD")
