"""A request → the arguments of its operation, strictly, or a problem that names the field.

The rules:

 1. What is not declared is refused: parameters, body keys, and a body where none is expected.
 2. A query string is percent-encoded UTF-8, ``+`` for a blank; a broken escape is refused, not guessed.
 3. A body is one JSON object, ``application/json``, at most MAX_BODY_BYTES, sent within BODY_SECONDS.
    A key given twice, NaN, an infinity, a lone surrogate: refused.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from secondbrain import strict_json
from secondbrain.digests import canonical_json, is_unicode
from secondbrain.space.parameters import Parameter, Unfit
from secondbrain.space.problems import BODY_TOO_LARGE, BODY_TOO_SLOW, NOT_JSON, UNFIT, Problem

MAX_BODY_BYTES = 64 * 1024
BODY_SECONDS = 10.0
"""How long a client may take to send its body."""
_MAX_FIELDS = 64
_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})|[^\x21-\x7e]")
_NAMEABLE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def query_arguments(request: Request, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return the arguments that a query string gives; Problem where it breaks a rule."""
    if request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers:
        raise Problem(UNFIT, "this method takes no body", field="body", place="body")
    given: dict[str, list[str]] = {}
    for name, value in _pairs(request.scope["query_string"]):
        given.setdefault(name, []).append(value)
    try:
        return _arguments(given, parameters, lambda parameter, values: parameter.of_query(values))
    except Unfit as refusal:
        raise Problem(UNFIT, str(refusal), field=refusal.field, place="query") from None


async def body_arguments(request: Request, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return the arguments that a JSON body gives; Problem where it breaks a rule."""
    body = await json_object(request)
    try:
        return _arguments(body, parameters, lambda parameter, value: parameter.of_json(value))
    except Unfit as refusal:
        raise Problem(UNFIT, str(refusal), field=refusal.field, place="body") from None


async def json_object(request: Request) -> dict[str, Any]:
    """Return the JSON object of a body; Problem where it is none, or has a query string beside it."""
    for name, _ in _pairs(request.scope["query_string"]):
        raise Problem(UNFIT, "a POST takes its arguments in the body", field=_nameable(name), place="query")
    _check_media_type(request)
    body = await _read(request)
    try:
        value = strict_json.parse(body.decode("utf-8"))
    except strict_json.NotStrict as reason:
        field = _nameable(reason.key) if reason.key is not None else "body"
        raise Problem(UNFIT, f"the body is not strict JSON: {reason}", field=field, place="body") from None
    except UnicodeDecodeError:
        raise Problem(UNFIT, "the body is not UTF-8", field="body", place="body") from None
    if not isinstance(value, dict):
        raise Problem(UNFIT, "the body is not a JSON object", field="body", place="body")
    return value


async def payload(request: Request) -> dict[str, Any]:
    """Return a body that is one payload as a whole, all of it Unicode; Problem as :func:`json_object`."""
    value = await json_object(request)
    if not is_unicode(canonical_json(value)):
        raise Problem(UNFIT, "the body has a lone surrogate", field="body", place="body")
    return value


def _pairs(query_string: bytes) -> list[tuple[str, str]]:
    try:
        if _BROKEN_ESCAPE.search(query_string):
            raise ValueError
        return parse_qsl(
            query_string.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError:
        detail = f"the query string is not up to {_MAX_FIELDS} pairs NAME=VALUE in percent-encoded UTF-8"
        raise Problem(UNFIT, detail, field="query string", place="query") from None


def _arguments(given: Mapping[str, Any], parameters: Sequence[Parameter], value_of: Any) -> dict[str, Any]:
    """Return every parameter's value by its name, those not given by their defaults."""
    known = {name for parameter in parameters for name in (parameter.name, parameter.short)}
    _refuse_unknown(given, known)
    arguments: dict[str, Any] = {}
    for parameter in parameters:
        spellings = [name for name in (parameter.name, parameter.short) if name is not None and name in given]
        if len(spellings) > 1:
            raise Unfit(parameter.name, f"is given as {parameter.short} too")
        if spellings:
            arguments[parameter.name] = value_of(parameter, given[spellings[0]])
        elif parameter.required:
            raise Unfit(parameter.name, "is missing")
        else:
            arguments[parameter.name] = parameter.default
    return arguments


def _refuse_unknown(given: Iterable[str], known: set[str | None]) -> None:
    for name in given:
        if name not in known:
            raise Unfit(_nameable(name), "is not known here")


def _nameable(name: str) -> str:
    # A name is repeated to its sender only where it looks like one: anything may stand there.
    return name if _NAMEABLE.fullmatch(name) else "a parameter"


def _check_media_type(request: Request) -> None:
    media_type, _, rest = request.headers.get("content-type", "").partition(";")
    charset = rest.strip().lower().removeprefix("charset=").strip('"')
    encoding = request.headers.get("content-encoding", "identity")
    if (
        media_type.strip().lower() != "application/json"
        or charset not in ("", "utf-8")
        or encoding != "identity"
    ):
        raise Problem(NOT_JSON, "send content-type: application/json, in UTF-8, not compressed")


async def _read(request: Request) -> bytes:
    too_large = Problem(BODY_TOO_LARGE, f"the body has more than {MAX_BODY_BYTES} bytes")
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared) > MAX_BODY_BYTES:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY_BYTES:
                    raise too_large
    except TimeoutError:
        raise Problem(BODY_TOO_SLOW, f"the body did not arrive within {BODY_SECONDS:.0f} seconds") from None
    except ClientDisconnect:
        raise Problem(UNFIT, "the body ended early", field="body", place="body") from None
    return bytes(body)
