"""The OpenAPI 3.1 document, made from the table of operations, their parameters and the wire types."""

from functools import cache
from typing import Any

from pydantic import TypeAdapter

from secondbrain import __version__, wire
from secondbrain.schemas import REFERENCES, openapi_schemas
from secondbrain.space.operations import OPERATIONS, Operation
from secondbrain.space.parameters import Parameter
from secondbrain.space.payloads import PAYLOADS, ProblemDetails
from secondbrain.space.problems import (
    BODY_TOO_LARGE,
    BODY_TOO_SLOW,
    INTERNAL,
    MEDIA_TYPE,
    MISBEHAVED,
    NOT_FOUND,
    NOT_JSON,
    OVERLOADED,
    TOO_MANY,
    UNFIT,
    WRONG_HOST,
    Kind,
)

PATH = "/openapi.json"
_ALSO = (*PAYLOADS, wire.FrontierStatus)
"""Payloads that have no schema name of their own."""
ABOUT = (
    "Governed retrieval: handles, digests and receipts of rankings, never the text of a chunk or candidate. "
    + wire.HONESTY
)
_EVERYWHERE = (UNFIT, WRONG_HOST, TOO_MANY, INTERNAL, OVERLOADED)
_WITH_BODY = (BODY_TOO_SLOW, BODY_TOO_LARGE, NOT_JSON)


@cache
def document() -> dict[str, Any]:
    """Return the document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "SZL Second Brain",
            "version": __version__,
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": {
            one.path: {method.lower(): _operation(one, method) for method in one.methods}
            for one in OPERATIONS
        },
        "components": {"schemas": _schemas()},
    }


def _schemas() -> dict[str, Any]:
    """Return the schemas of the payloads that routes take and give, with what these refer to."""
    inputs: Any = [(payload.__name__, "serialization", TypeAdapter(payload)) for payload in _ALSO]
    _, own = TypeAdapter.json_schemas(inputs, ref_template=REFERENCES)
    everything: dict[str, Any] = openapi_schemas() | own["$defs"]
    used = {payload for one in OPERATIONS for payload in (one.payload, one.body) if payload is not None}
    reached: set[str] = set()
    waiting = {payload.__name__ for payload in (*used, ProblemDetails)}
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= set(_references(everything[name])) - reached
    return {name: everything[name] for name in sorted(reached)}


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for item in schema for name in _references(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].rpartition("/")[2]] if "$ref" in schema else []
    return own + [name for item in schema.values() for name in _references(item)]


def _operation(operation: Operation, method: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": _identifier(operation, method),
        "summary": operation.answers,
        "responses": _responses(operation, method),
    }
    parameters = _path_parameters(operation)
    if method == "GET":
        parameters += [_query_parameter(one) for one in operation.parameters]
    else:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _body(operation)}},
        }
    if parameters:
        described["parameters"] = parameters
    return described


def _identifier(operation: Operation, method: str) -> str:
    words = operation.path.replace("{", "by/").replace("}", "").replace("-", "/").split("/")
    return "_".join([method.lower(), *filter(None, words)])


def _path_parameters(operation: Operation) -> list[dict[str, Any]]:
    names = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _query_parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "description": _about(parameter),
        "required": parameter.required,
        "schema": parameter.schema(),
    }


def _about(parameter: Parameter) -> str:
    return parameter.about + (f" `{parameter.short}` is taken for it too." if parameter.short else "")


def _body(operation: Operation) -> dict[str, Any]:
    if operation.body is not None:
        return _reference(operation.body)
    return {
        "type": "object",
        "properties": {
            one.name: {**one.schema(), "description": _about(one)} for one in operation.parameters
        },
        "required": [one.name for one in operation.parameters if one.required],
        "additionalProperties": False,
    }


def _responses(operation: Operation, method: str) -> dict[str, Any]:
    payload = {"application/json": {"schema": _reference(operation.payload)}}
    problem = {MEDIA_TYPE: {"schema": _reference(ProblemDetails)}}
    responses: dict[str, Any] = {"200": {"description": operation.answers, "content": payload}}
    if operation.etag:
        responses["304"] = {"description": "What `if-none-match` names is still the answer."}
    kinds: list[Kind] = [*_EVERYWHERE]
    if method == "POST":
        kinds += _WITH_BODY
    if "{" in operation.path:
        kinds.append(NOT_FOUND)
    if operation.path == "/api/v1/hybrid":
        kinds.append(MISBEHAVED)
    for kind in sorted(kinds, key=lambda one: one.status):
        responses[str(kind.status)] = {"description": kind.title, "content": problem}
    responses["503"] = {
        "description": "The store, the frontier or a provider cannot answer, or there is too much at once",
        "content": payload | problem,
    }
    return responses


def _reference(payload: Any) -> dict[str, str]:
    return {"$ref": REFERENCES.format(model=payload.__name__)}
