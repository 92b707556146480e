"""Every payload's schema is generated from its type, and payloads are checked against it strictly."""

import json
from pathlib import Path

import pytest

from secondbrain import wire
from secondbrain.digests import canonical_json
from secondbrain.errors import RetrievalBoundaryError
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.schemas import REFERENCES, checked, json_schema, openapi_schemas, write_schemas
from secondbrain.store.opened import Store


@pytest.mark.parametrize("name", wire.PAYLOADS)
def test_each_payload_has_a_schema_under_its_name(name: str) -> None:
    schema = json_schema(name)
    assert schema["$id"] == f"urn:{name}"
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["type"] == "object"
    assert json.loads(canonical_json(schema)) == schema


def test_a_schema_names_the_schema_of_its_payload() -> None:
    assert json_schema(wire.CONTEXT)["properties"]["schema"]["const"] == wire.CONTEXT


def test_an_unknown_schema_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        json_schema("szl.second-brain.none/v1")


def test_openapi_has_every_schema_once_and_every_reference_resolves() -> None:
    schemas = openapi_schemas()
    assert "Context" in schemas
    for reference in references(schemas):
        assert reference in {REFERENCES.format(model=name) for name in schemas}


def references(value: object) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


def test_a_real_payload_has_the_form_of_its_schema(store: Store) -> None:
    for query in "locked formulas", "nothing of it here zzz", "":
        context = HybridSecondBrain(store).context(query)
        assert checked(wire.CONTEXT, context) == context


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ready", 1),
        ("ready", "true"),
        ("corpus_n", "575"),
        ("corpus_n", 5.0),
        ("state", "SECRET"),
        ("schema", "SECRET"),
        ("handles", "SECRET"),
        ("handles", [{"nodeId": "SECRET"}]),
        ("index_is_model_weights", True),
    ],
)
def test_types_are_taken_strictly_and_no_value_is_repeated(store: Store, field: str, value: object) -> None:
    context: dict[str, object] = {**HybridSecondBrain(store).context("locked formulas"), field: value}
    with pytest.raises(RetrievalBoundaryError) as refused:
        checked(wire.CONTEXT, context)
    assert str(refused.value).startswith(field)
    assert "SECRET" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_missing_field_is_named(store: Store) -> None:
    context = dict(HybridSecondBrain(store).context("locked formulas"))
    del context["ready"]
    with pytest.raises(RetrievalBoundaryError, match=r"^ready: Field required"):
        checked(wire.CONTEXT, context)


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_what_is_no_payload_at_all_is_refused(value: object) -> None:
    with pytest.raises(RetrievalBoundaryError, match=r"^the payload: "):
        checked(wire.CONTEXT, value)


def test_the_schemas_are_written_as_files_under_their_names(tmp_path: Path) -> None:
    files = write_schemas(tmp_path / "schemas")
    assert [file.name for file in files] == sorted(f"{name.replace('/', '.')}.json" for name in wire.PAYLOADS)
    for file in files:
        schema = json.loads(file.read_text(encoding="utf-8"))
        assert schema == json_schema(schema["$id"].removeprefix("urn:"))
