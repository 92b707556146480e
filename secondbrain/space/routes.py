"""Routes made from the table of operations: parse strictly, call the library, answer in canonical form.

The rules:

 1. A payload is the library's, byte for byte in its canonical JSON.
 2. A payload that says why the store or the frontier could not answer (``error_type``) has status 503.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from secondbrain.digests import canonical_json, sha256_bytes, sha256_text
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.settings import Settings
from secondbrain.space.logs import note_of
from secondbrain.space.operations import OPERATIONS, Operation
from secondbrain.space.requests import body_arguments, payload, query_arguments
from secondbrain.space.work import Work

MEDIA_TYPE = "application/json"


def operation_routes(brain: HybridSecondBrain, settings: Settings, work: Work) -> list[Route]:
    """Return a route for every operation."""
    return [
        Route(one.path, _endpoint(one, brain, settings, work), methods=list(one.methods))
        for one in OPERATIONS
    ]


def _endpoint(
    operation: Operation, brain: HybridSecondBrain, settings: Settings, work: Work
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        arguments = await _arguments(operation, request)
        if "query" in arguments:
            note_of(request.scope).query_sha256 = sha256_text(arguments["query"])
        call = partial(operation.call, brain, settings, arguments)
        answer = call() if operation.storeless else await work.run(call)
        return _answer(answer, request.headers.get("if-none-match"), etag=operation.etag)

    return endpoint


async def _arguments(operation: Operation, request: Request) -> dict[str, Any]:
    if request.method == "POST":
        if operation.body is not None:
            return await payload(request)
        return await body_arguments(request, operation.parameters)
    return query_arguments(request, operation.parameters) | request.path_params


def _answer(payload: Mapping[str, Any], known: str | None, *, etag: bool) -> Response:
    body = canonical_json(payload).encode("utf-8")
    status = 503 if "error_type" in payload else 200
    if not etag or status != 200:
        return Response(body, status, {"cache-control": "no-store"}, MEDIA_TYPE)
    tag = f'"{sha256_bytes(body)}"'
    headers = {"cache-control": "no-cache", "etag": tag}
    if known is not None and (known.strip() == "*" or tag in _tags(known)):
        return Response(None, 304, headers)
    return Response(body, status, headers, MEDIA_TYPE)


def _tags(if_none_match: str) -> set[str]:
    # Weak comparison, as RFC 9110 has it for GET: W/ does not count.
    return {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
