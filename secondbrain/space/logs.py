"""What is written down of a request: JSON lines, and a request id in every answer.

The rules:

 1. A line has the route's pattern, never the address as it came; the digest of a query, never the query;
    the type of an error and where it was raised, never its message.
 2. The request id is made here: a caller cannot write into the log.
 3. Nothing that a route raises gets past this point: it is answered as a problem and logged once.
"""

import json
import logging
import sys
import time
import traceback
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOGGER = "secondbrain.space"
_NOTE = "secondbrain.note"
_log = logging.getLogger(LOGGER)


@dataclass(slots=True)
class Note:
    """What is known of one request while it is answered."""

    request_id: str
    query_sha256: str | None = None
    problem: str | None = None
    error_type: str | None = None
    raised_at: str | None = None


def note_of(scope: Scope) -> Note:
    """Return the note of a request."""
    note: Note = scope[_NOTE]
    return note


class RequestLog:
    """ASGI middleware: gives each request its note and id, answers what fails, writes one line."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        route_of: Callable[[Scope], str],
        failed: Callable[[Scope], ASGIApp],
        observe: Callable[[str, str, int, float], None] | None = None,
    ) -> None:
        """``failed`` answers an exception; ``observe`` is told route, method, status and seconds."""
        self._app = app
        self._route_of = route_of
        self._failed = failed
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and write it down when it is done."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        note = scope[_NOTE] = Note(str(uuid.uuid4()))
        request_id = (b"x-request-id", note.request_id.encode("ascii"))
        status, size, began = 0, 0, time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), request_id]
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception as error:
            note.error_type, note.raised_at = type(error).__name__, _place(error)
            if status == 0:
                await self._failed(scope)(scope, receive, noted)
        finally:
            seconds = time.perf_counter() - began
            route = self._route_of(scope)
            if self._observe is not None:
                self._observe(route, scope["method"], status, seconds)
            _log.log(
                logging.ERROR if note.raised_at else logging.INFO,
                "request",
                extra={"fields": _fields(note, route, scope["method"], status, size, seconds)},
            )


class JsonLines(logging.Formatter):
    """One JSON object a line; of an exception its type and place."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03}Z",
            "level": record.levelname,
            "event": record.getMessage() if record.exc_info is None else "exception",
        }
        fields: Mapping[str, Any] | None = getattr(record, "fields", None)
        if fields is not None:
            line.update(fields)
        else:
            line["logger"] = record.name
        if record.exc_info is not None and isinstance(error := record.exc_info[1], BaseException):
            line |= {"error_type": type(error).__name__, "raised_at": _place(error)}
        return json.dumps(line, ensure_ascii=False)


def log_to_stdout() -> None:
    """Send every log line of this process to standard output as JSON: the server's own lines too."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)


def _fields(note: Note, route: str, method: str, status: int, size: int, seconds: float) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "request_id": note.request_id,
        "method": method,
        "route": route,
        "status": status,
        "bytes": size,
        "milliseconds": round(seconds * 1000, 3),
    }
    for name in ("query_sha256", "problem", "error_type", "raised_at"):
        if (value := getattr(note, name)) is not None:
            fields[name] = value
    return fields


def _place(error: BaseException) -> str:
    """Return where an exception was raised; its message may hold a caller's words, its place does not."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown"
