"""The payloads that only the HTTP face has: life, readiness, version, routes, sources of the frontier.

All others are the library's own (``secondbrain.wire``).
"""

from collections.abc import Iterable
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from secondbrain import __version__, wire
from secondbrain.errors import StoreIntegrityError
from secondbrain.retrieval.frontier import frontier_status
from secondbrain.retrieval.status import status
from secondbrain.store.opened import Store

DOCTRINE: Literal["v11"] = "v11"
NEVER = (
    "text of a chunk or candidate in any answer",
    "a route that hydrates, writes, trains, promotes, executes or merges",
    "a node of the private graph",
    "the words of a query in a log",
    "a score called confidence, relevance or correctness",
)


class Health(TypedDict):
    """The process lives. Nothing is said of the store."""

    state: Literal["ALIVE"]


class Readiness(TypedDict):
    """The store is open and matches its check."""

    state: Literal["READY"]
    ready: Literal[True]
    generation_sha256: str
    integrity: Literal["FILE_DIGEST_MATCHED", "VERIFIED_IN_FULL", "SIZE_AND_SCHEMA_ONLY"]


class Version(TypedDict):
    """Which program serves which data."""

    package: Literal["szl-second-brain"]
    version: str
    doctrine: Literal["v11"]
    source_revision: str
    generation_sha256: str | None
    rows_sha256: str | None
    index_sha256: str | None
    candidate_set_sha256: str | None
    error_type: NotRequired[str]


class FrontierSources(wire.Authorities):
    """The sources of the frontier set, each at its exact revision, with the digest of its bytes."""

    schema: Literal["szl.second-brain.frontier-sources/v1"]
    state: Literal["REVIEW_REQUIRED", "UNAVAILABLE"]
    ready: bool
    candidate_set_sha256: str | None
    state_sha256: str | None
    sources: list[wire.FrontierSource]
    error_type: NotRequired[str]


ProblemDetails = TypedDict(
    "ProblemDetails",
    {
        "type": str,
        "title": str,
        "status": int,
        "instance": str,
        "detail": NotRequired[str],
        "field": NotRequired[str],
        "in": NotRequired[Literal["query", "body"]],
        "state": NotRequired[Literal["BLOCKED"]],
        "error_type": NotRequired[str],
    },
)
"""A problem (RFC 9457); ``field`` is the parameter or body key that broke a rule, ``in`` where it stood."""


PAYLOADS: tuple[Any, ...] = (Health, Readiness, Version, FrontierSources, ProblemDetails)


def health() -> Health:
    """Say that the process lives."""
    return {"state": "ALIVE"}


def readiness(store: Store) -> Readiness:
    """Return which generation is open; StoreIntegrityError where none is or it fails its check."""
    snapshot = store.snapshot()
    store.reader()
    return {
        "state": "READY",
        "ready": True,
        "generation_sha256": snapshot.generation_sha256,
        "integrity": snapshot.integrity,
    }


def version(store: Store, source_revision: str) -> Version:
    """Return the program's version and the digests of what it serves; null where the store fails."""
    found = status(store=store)
    payload: Version = {
        "package": "szl-second-brain",
        "version": __version__,
        "doctrine": DOCTRINE,
        "source_revision": source_revision,
        "generation_sha256": found["generation_sha256"],
        "rows_sha256": found["rows_sha256"],
        "index_sha256": found["index_sha256"],
        "candidate_set_sha256": found["candidate_set_sha256"],
    }
    if "error_type" in found:
        payload["error_type"] = found["error_type"]
    return payload


def manifest(store: Store, routes: Iterable[wire.Route]) -> wire.Manifest:
    """Return the routes and boundaries of this face."""
    try:
        generation: str | None = store.snapshot().generation_sha256
    except StoreIntegrityError:
        generation = None  # routes and boundaries are the same without a store
    return {
        "schema": "szl.second-brain.manifest/v1",
        "version": __version__,
        "doctrine": DOCTRINE,
        "generation_sha256": generation,
        "routes": list(routes),
        "never": list(NEVER),
        **wire.no_authority(),
        **wire.boundary(),
    }


def frontier_sources(store: Store) -> FrontierSources:
    """Return the source receipts of the frontier set; UNAVAILABLE where it fails its check."""
    found = frontier_status(store=store)
    payload: FrontierSources = {
        "schema": "szl.second-brain.frontier-sources/v1",
        "state": found["state"],
        "ready": found["ready"],
        "candidate_set_sha256": found.get("candidate_set_sha256"),
        "state_sha256": found.get("state_sha256"),
        "sources": found.get("sources", []),
        "training_authority": "NONE",
        "promotion_authority": "NONE",
        "execution_authority": "NONE",
        "merge_authority": "NONE",
    }
    if "error_type" in found:
        payload["error_type"] = found["error_type"]
    return payload
