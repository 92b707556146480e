"""Problems (RFC 9457): what is answered when a request cannot be.

The rules:

 1. Every answer that is no success and no payload is ``application/problem+json``, 404, 405 and 500 too.
 2. A fault of the caller names the field and says what it may be. It never repeats a value.
 3. A fault of a provider has ``state`` BLOCKED and the error's type alone: 502 where it misbehaved, 503
    where it is out. A fault of the store or a deadline is 503 with the error's type alone.
 4. Whatever else happens is 500 without a word of what it was; the log has its type and place.
"""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from secondbrain.digests import canonical_json
from secondbrain.errors import (
    BoundaryError,
    DeadlineExceeded,
    ProviderBoundaryError,
    ProviderUnavailable,
    SecondBrainError,
)
from secondbrain.space.logs import note_of

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True)
class Kind:
    """One kind of problem; its type is an address on the page of routes, where it is explained."""

    slug: str
    status: int
    title: str
    about: str
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def type(self) -> str:
        """The problem type: a reference with its full path, as RFC 9457 asks of relative ones."""
        return f"/docs#{self.slug}"


_SOON = (("retry-after", "1"),)
_CLOSE = (("connection", "close"),)

UNFIT = Kind("unfit", 422, "A parameter is outside its rules", "`field` names it, `in` says where it stood.")
NOT_FOUND = Kind("not-found", 404, "There is nothing here", "No route or candidate has this address.")
NO_METHOD = Kind("no-method", 405, "The method is not for this route", "`allow` lists those that are.")
BODY_TOO_SLOW = Kind("body-too-slow", 408, "The body came too slowly", "Send it at once.", _CLOSE)
BODY_TOO_LARGE = Kind("body-too-large", 413, "The body is too large", "64 KiB is the most.", _CLOSE)
NOT_JSON = Kind(
    "not-json", 415, "The body is not JSON", "Send `application/json`, in UTF-8, not compressed.", _CLOSE
)
WRONG_HOST = Kind(
    "wrong-host", 421, "This host is not served here", "The `Host` is none that the operator allows."
)
TOO_MANY = Kind("too-many", 429, "Too many requests", "`retry-after` says in how many seconds to ask again.")
INTERNAL = Kind("internal", 500, "The request failed here", "The operator's log has it under the request id.")
MISBEHAVED = Kind("provider-misbehaved", 502, "A provider broke its contract", "The request was blocked.")
PROVIDER_OUT = Kind("provider-out", 503, "A provider is out of reach", "The request was blocked.", _SOON)
UNAVAILABLE = Kind(
    "unavailable", 503, "The store cannot answer", "`error_type` says which check failed.", _SOON
)
OVERLOADED = Kind("overloaded", 503, "Too much at once", "Nothing was done. Ask again in a second.", _SOON)

KINDS = (
    UNFIT,
    NOT_FOUND,
    NO_METHOD,
    BODY_TOO_SLOW,
    BODY_TOO_LARGE,
    NOT_JSON,
    WRONG_HOST,
    TOO_MANY,
    INTERNAL,
    MISBEHAVED,
    PROVIDER_OUT,
    UNAVAILABLE,
    OVERLOADED,
)


class Problem(Exception):
    """A request that ends in a problem."""

    def __init__(
        self, kind: Kind, detail: str | None = None, *, field: str | None = None, place: str = ""
    ) -> None:
        super().__init__(kind.slug)
        self.kind = kind
        self.members: dict[str, Any] = {} if detail is None else {"detail": detail}
        if field is not None:
            self.members |= {"field": field, "in": place}


def problem_response(scope: Scope, kind: Kind, members: dict[str, Any], **headers: str) -> Response:
    """Return the answer of a problem, with the request's id as its instance."""
    note = note_of(scope)
    note.problem = kind.slug
    note.error_type = members.get("error_type", note.error_type)
    body = {
        "type": kind.type,
        "title": kind.title,
        "status": kind.status,
        "instance": f"urn:uuid:{note.request_id}",
        **members,
    }
    return Response(
        canonical_json(body).encode("utf-8"),
        kind.status,
        {**dict(kind.headers), **{name.replace("_", "-"): value for name, value in headers.items()}},
        MEDIA_TYPE,
    )


async def of_problem(request: Request, error: Exception) -> Response:
    """Answer a Problem."""
    assert isinstance(error, Problem)
    return problem_response(request.scope, error.kind, error.members)


async def of_http(request: Request, error: Exception) -> Response:
    """Answer what the router raises: no such route, or no such method there."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        return problem_response(request.scope, NO_METHOD, {}, **dict(error.headers or {}))
    if error.status_code == 404:
        return problem_response(request.scope, NOT_FOUND, {})
    status = HTTPStatus(error.status_code)
    kind = Kind(status.phrase.lower().replace(" ", "-"), status, status.phrase, "")
    return problem_response(request.scope, kind, {})


async def of_library(request: Request, error: Exception) -> Response:
    """Answer an error of the library by who is at fault (rules 2 and 3)."""
    assert isinstance(error, SecondBrainError)
    name = type(error).__name__
    if isinstance(error, ProviderBoundaryError):
        return problem_response(request.scope, MISBEHAVED, {"state": "BLOCKED", "error_type": name})
    if isinstance(error, ProviderUnavailable):
        return problem_response(request.scope, PROVIDER_OUT, {"state": "BLOCKED", "error_type": name})
    if isinstance(error, BoundaryError) and not isinstance(error, DeadlineExceeded):
        return problem_response(request.scope, UNFIT, _caller_fault(request, error))
    return problem_response(request.scope, UNAVAILABLE, {"error_type": name})


def _caller_fault(request: Request, error: BoundaryError) -> dict[str, Any]:
    # The library's sentence opens with the field and may repeat the value: only the field is taken.
    field = str(error).split(maxsplit=1)[0].rstrip(":")
    return {
        "detail": f"{field} is not one of the values that are held here, or not in its form",
        "error_type": type(error).__name__,
        "field": field,
        "in": "query" if request.method in ("GET", "HEAD") else "body",
    }
