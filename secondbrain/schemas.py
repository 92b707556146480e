"""JSON Schemas of the wire types, and strict checks against them.

pydantic is loaded here and by the HTTP face's OpenAPI document, never on the way of a search. The wheel
carries the schemas as files, ``secondbrain/data/schemas/NAME.json``.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from secondbrain import wire
from secondbrain.errors import RetrievalBoundaryError

REFERENCES = "#/components/schemas/{model}"
"""Where an OpenAPI 3.1 document keeps the schemas that others refer to."""


@cache
def adapter(name: str) -> TypeAdapter[Any]:
    """Return the checker of a payload by its schema name; KeyError for an unknown name."""
    return TypeAdapter(wire.PAYLOADS[name])


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a payload by its schema name."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:{name}"}
    return head | adapter(name).json_schema()


def write_schemas(folder: Path) -> list[Path]:
    """Write the JSON Schema of every payload into a folder; return the files, in the order of their names.

    ``szl.second-brain.status/v1`` is ``szl.second-brain.status.v1.json``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name in sorted(wire.PAYLOADS):
        file = folder / f"{name.replace('/', '.')}.json"
        file.write_text(json.dumps(json_schema(name), indent=2, sort_keys=True) + "\n", encoding="utf-8")
        files.append(file)
    return files


def openapi_schemas() -> dict[str, Any]:
    """Return the schemas of all payloads as the ``components`` of an OpenAPI 3.1 document, by type name."""
    inputs = [(name, "serialization", adapter(name)) for name in wire.PAYLOADS]
    _, together = TypeAdapter.json_schemas(inputs, ref_template=REFERENCES)  # type: ignore[arg-type]
    schemas: dict[str, Any] = together.get("$defs", {})
    return schemas


def checked(name: str, payload: object) -> Any:
    """Return a payload that has the form of its schema, types taken strictly.

    Raises RetrievalBoundaryError that names the first field which has not; its value is not repeated.
    """
    try:
        return adapter(name).validate_python(payload, strict=True)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "the payload"
        raise RetrievalBoundaryError(f"{field}: {first['msg']}") from None
