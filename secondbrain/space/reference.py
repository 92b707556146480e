"""The page of routes at ``/docs``: the OpenAPI document for people. No script, one style sheet of ours."""

from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from secondbrain.digests import canonical_json
from secondbrain.space import openapi
from secondbrain.space.problems import KINDS

PATH = "/docs"
STYLE_PATH = "/docs.css"
_CACHE = {"cache-control": "public, max-age=300"}


def reference_routes() -> list[Route]:
    """Return the routes of the document, the page and its style sheet."""
    return [
        Route(openapi.PATH, _document, methods=["GET"]),
        Route(PATH, _page, methods=["GET"]),
        Route(STYLE_PATH, _style, methods=["GET"]),
    ]


async def _document(_: Request) -> Response:
    # On a thread: making the schemas takes a few hundred milliseconds, once.
    return Response(await to_thread.run_sync(document_bytes), 200, _CACHE, "application/json")


async def _page(_: Request) -> Response:
    return Response(await to_thread.run_sync(page_bytes), 200, _CACHE, "text/html")


async def _style(_: Request) -> Response:
    return Response(Path(__file__).with_name("reference.css").read_bytes(), 200, _CACHE, "text/css")


@cache
def document_bytes() -> bytes:
    """Return the OpenAPI document as canonical JSON."""
    return canonical_json(openapi.document()).encode("utf-8")


@cache
def page_bytes() -> bytes:
    """Return the page."""
    return "\n".join(_lines(openapi.document())).encode("utf-8")


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    info = document["info"]
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<title>{escape(info["title"])}: routes</title>\n<link rel="stylesheet" href="{STYLE_PATH}">'
    yield f"</head>\n<body>\n<main>\n<h1>{escape(info['title'])} {escape(info['version'])}</h1>"
    yield f"<p>{escape(info['description'])}</p>"
    yield f'<p>For programs: <a href="{openapi.PATH}">{openapi.PATH}</a>, OpenAPI {document["openapi"]}.</p>'
    yield "<h2>Routes</h2>"
    for path, methods in document["paths"].items():
        yield from _route(path, methods)
    yield "<h2>Problems</h2>"
    yield "<p>An answer that is no payload is <code>application/problem+json</code> (RFC 9457).</p>\n<dl>"
    for kind in KINDS:
        yield f'<dt id="{kind.slug}"><code>{kind.status}</code> {escape(kind.title)}</dt>'
        yield f"<dd>{_prose(kind.about)}</dd>"
    yield "</dl>\n</main>\n</body>\n</html>"


def _route(path: str, methods: Mapping[str, Any]) -> Iterator[str]:
    first = next(iter(methods.values()))
    names = ", ".join(method.upper() for method in methods)
    yield f'<section id="{escape(first["operationId"])}">'
    yield f"<h3><code>{names}</code> <code>{escape(path)}</code></h3>\n<p>{_prose(first['summary'])}</p>"
    if rows := list(_parameters(methods)):
        yield "<table>\n<thead><tr><th>name</th><th>form</th><th>meaning</th></tr></thead>\n<tbody>"
        yield from rows
        yield "</tbody>\n</table>"
    if "post" in methods:
        yield f"<p>Body: {_form(_json(methods['post']['requestBody']))}.</p>"
    answer = _form(_json(first["responses"]["200"]))
    yield f"<p>Answer: {answer}. Other statuses: {_statuses(methods)}.</p>\n</section>"


def _json(part: Mapping[str, Any]) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = part["content"]["application/json"]["schema"]
    return schema


def _parameters(methods: Mapping[str, Any]) -> Iterator[str]:
    for one in methods.get("get", {}).get("parameters", []):
        need = "required" if one["required"] else f"default {one['schema'].get('default', 'none')}"
        form = f"{_form(one['schema'])}, {need}"
        meaning = _prose(one.get("description", ""))
        yield f"<tr><td><code>{escape(one['name'])}</code></td><td>{form}</td><td>{meaning}</td></tr>"


def _form(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return f"<code>{escape(schema['$ref'].rpartition('/')[2])}</code>"
    if schema["type"] == "string":
        return f"text up to {schema['maxLength']:,} characters" if "maxLength" in schema else "text"
    if schema["type"] == "integer":
        return f"{schema['minimum']} to {schema['maximum']}"
    if schema["type"] == "array":
        return f"1 to {schema['maxItems']} names, the parameter repeated"
    return "the same names as keys of one JSON object"


def _statuses(methods: Mapping[str, Any]) -> str:
    found = sorted({status for one in methods.values() for status in one["responses"]} - {"200"})
    return ", ".join(f"<code>{status}</code>" for status in found)


def _prose(text: str) -> str:
    """Return a sentence as HTML; what stands between backticks is code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))
