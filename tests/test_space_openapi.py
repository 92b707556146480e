"""The OpenAPI document is valid, whole, and true of what is answered."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from space_service import Service, build_store, serving

from secondbrain.space.operations import OPERATIONS
from secondbrain.space.problems import KINDS


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(build_store(tmp_path_factory.mktemp("store"))) as running:
        yield running


@pytest.fixture(scope="module")
def document(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = service.get("/openapi.json").json()
    return found


def test_an_independent_reader_finds_the_document_valid(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []


def test_every_route_and_method_is_described(document: dict[str, Any]) -> None:
    described = {(path, method) for path, methods in document["paths"].items() for method in methods}
    assert described == {(one.path, method.lower()) for one in OPERATIONS for method in one.methods}
    names = [one["operationId"] for methods in document["paths"].values() for one in methods.values()]
    assert len(set(names)) == len(names)


def checker(document: dict[str, Any], schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": document["components"]})


EXAMPLES = {
    "/api/v1/retrieve": "query=receipts",
    "/retrieve": "query=receipts",
    "/api/v1/hybrid": "query=receipts&k=2&sources=doc",
    "/api/v1/navigator": "query=receipts",
    "/api/v1/frontier/search": "query=formula",
}


def test_every_answer_has_the_form_that_the_document_gives(
    service: Service, document: dict[str, Any]
) -> None:
    candidate = service.get("/api/v1/anatomy?k=1").json()["handles"][0]["nodeId"]
    for path, methods in document["paths"].items():
        if "get" in methods:
            address = path.replace("{id}", candidate) + "?" + EXAMPLES.get(path, "")
            answer = service.get(address)
        else:
            answer = service.post(path, service.get("/api/v1/hybrid?query=receipts").json())
        assert answer.status_code == 200, path
        described = next(iter(methods.values()))["responses"]["200"]["content"]["application/json"]["schema"]
        checker(document, described).validate(json.loads(answer.content))


def test_a_problem_has_the_form_that_the_document_gives(service: Service, document: dict[str, Any]) -> None:
    for path in ("/api/v1/hybrid", "/nothing", "/api/v1/frontier/candidates/none"):
        checker(document, {"$ref": "#/components/schemas/ProblemDetails"}).validate(service.get(path).json())


def test_the_body_that_the_document_gives_is_the_one_that_is_taken(
    service: Service, document: dict[str, Any]
) -> None:
    body = document["paths"]["/api/v1/hybrid"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    check = checker(document, body)
    for value in ({"query": "a"}, {"query": "a", "k": 13}, {"query": "a", "more": 1}, {"k": 1}, {"query": 1}):
        status = service.post("/api/v1/hybrid", value).status_code
        assert (status == 200) == check.is_valid(value), value


def test_the_page_of_routes_shows_all_and_runs_nothing(service: Service) -> None:
    answer = service.get("/docs")
    assert answer.headers["content-type"].startswith("text/html")
    for operation in OPERATIONS:
        assert f"<code>{operation.path}</code>" in answer.text
    for kind in KINDS:
        assert f'id="{kind.slug}"' in answer.text
    assert not re.search(r"<script|style=|\son\w+=|javascript:|https?://", answer.text)
    assert service.get("/docs.css").headers["content-type"].startswith("text/css")
