"""The table of routes: what each is called, takes, calls and answers with.

Everything else is made from this table: routes, the manifest, the OpenAPI document, the page of routes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from secondbrain import wire
from secondbrain.errors import RetrievalBoundaryError
from secondbrain.retrieval.asking import MAX_K
from secondbrain.retrieval.frontier import MAX_K as MAX_FRONTIER_K
from secondbrain.retrieval.frontier import anatomy_feed, frontier_candidate, frontier_search, frontier_status
from secondbrain.retrieval.hybrid import HybridSecondBrain, navigator_context
from secondbrain.retrieval.query import MAX_CHARACTERS
from secondbrain.retrieval.retrieve import retrieve
from secondbrain.retrieval.status import index, retrieval_capabilities, status
from secondbrain.retrieval.verification import verify_receipt
from secondbrain.settings import Settings
from secondbrain.space import payloads
from secondbrain.space.parameters import Names, Parameter, Text, Whole
from secondbrain.space.problems import NOT_FOUND, Problem

Answer = Mapping[str, Any]
Arguments = dict[str, Any]
Call = Callable[[HybridSecondBrain, Settings, Arguments], Answer]

QUERY = Text("query", "Ordinary text: nothing in it is syntax.", MAX_CHARACTERS, required=True, short="q")
K = Whole("k", "The most handles of an answer.", MAX_K, 6)
SOURCES = Names("sources", "Keep chunks of these sources only.")
FRONTIER_K = Whole("k", "The most candidates of an answer.", MAX_FRONTIER_K, 12)
ANATOMY_K = Whole("k", "The most candidates of the feed.", MAX_FRONTIER_K, 24)
FILTERS = (
    Text("kind", "Keep candidates of this kind."),
    Text("source_id", "Keep candidates of this source."),
    Text("quant_domain", "Keep candidates of this quant domain."),
)


@dataclass(frozen=True)
class Operation:
    """One route."""

    path: str
    answers: str
    """What it answers with, in one sentence."""
    payload: Any
    """The TypedDict of its payload."""
    call: Call
    methods: tuple[str, ...] = ("GET",)
    parameters: tuple[Parameter, ...] = ()
    body: Any = None
    """The TypedDict of the whole body, where it is a payload and no set of parameters."""
    storeless: bool = False
    """Whether it never touches the store: it is answered without waiting for a thread."""
    etag: bool = False
    """Whether the answer has an ETag and may be asked for again with ``if-none-match``."""
    probe: bool = False
    """Whether it answers under any load, any rate and any Host: what asks is a supervisor."""

    def route(self) -> wire.Route:
        """Return its line in the manifest."""
        return {"path": self.path, "methods": list(self.methods), "answers": self.answers}


def _verified(brain: HybridSecondBrain, _: Settings, context: Arguments) -> Answer:
    for name in context:
        if name not in wire.Context.__annotations__:
            raise RetrievalBoundaryError("context has a key that no context has")
    return verify_receipt(context, store=brain.store)


def _candidate(brain: HybridSecondBrain, _: Settings, arguments: Arguments) -> Answer:
    handle = frontier_candidate(arguments["id"], store=brain.store)
    if handle is None:
        raise Problem(NOT_FOUND, "the frontier set has no candidate of this id")
    return handle


HEALTH = Operation(
    "/healthz",
    "The process lives.",
    payloads.Health,
    lambda brain, settings, _: payloads.health(),
    storeless=True,
    probe=True,
)
RETRIEVE = Operation(
    "/api/v1/retrieve",
    "The best BM25 handles with their scores; smaller is better.",
    wire.Retrieval,
    lambda brain, _, given: retrieve(given["query"], given["k"], given["sources"], store=brain.store),
    methods=("GET", "POST"),
    parameters=(QUERY, K, SOURCES),
)
OPERATIONS: tuple[Operation, ...] = (
    HEALTH,
    replace(HEALTH, path="/health"),
    Operation(
        "/readyz",
        "The store is open, its generation pinned and checked; 503 with the failure's type otherwise.",
        payloads.Readiness,
        lambda brain, settings, _: payloads.readiness(brain.store),
        probe=True,
    ),
    Operation(
        "/version",
        "Package, doctrine, source revision, and the digests of what is served.",
        payloads.Version,
        lambda brain, settings, _: payloads.version(brain.store, settings.source_revision),
    ),
    Operation(
        "/api/v1/index",
        "Counts of chunks by source.",
        wire.Index,
        lambda brain, settings, _: index(store=brain.store),
    ),
    Operation(
        "/api/v1/status",
        "The open generation with its digests, and how its file was checked.",
        wire.Status,
        lambda brain, settings, _: status(store=brain.store),
    ),
    Operation(
        "/api/v1/manifest",
        "The routes and boundaries of this service.",
        wire.Manifest,
        lambda brain, settings, _: payloads.manifest(brain.store, (one.route() for one in OPERATIONS)),
    ),
    Operation(
        "/api/v1/retrieval-capabilities",
        "The modes that can occur here, and the providers configured.",
        wire.Capabilities,
        lambda brain, settings, _: retrieval_capabilities(brain),
    ),
    RETRIEVE,
    replace(RETRIEVE, path="/retrieve", methods=("GET",)),
    Operation(
        "/api/v1/hybrid",
        "The context: handles, evidence, and the receipt of their ranking.",
        wire.Context,
        lambda brain, _, given: brain.context(given["query"], given["k"], given["sources"]),
        methods=("GET", "POST"),
        parameters=(QUERY, K, SOURCES),
    ),
    Operation(
        "/api/v1/navigator",
        "Handles and evidence for a navigator model: a context without its receipt.",
        wire.NavigatorContext,
        lambda brain, _, given: navigator_context(given["query"], given["k"], store=brain.store),
        parameters=(QUERY, K),
    ),
    Operation(
        "/api/v1/frontier",
        "The state of the frontier set: all of it awaits review.",
        wire.FrontierStatus,
        lambda brain, settings, _: frontier_status(store=brain.store),
    ),
    Operation(
        "/api/v1/frontier/search",
        "Handles of candidates for a query, for reviewers.",
        wire.FrontierSearch,
        lambda brain, _, given: frontier_search(store=brain.store, **given),
        parameters=(QUERY, FRONTIER_K, *FILTERS),
    ),
    Operation(
        "/api/v1/frontier/candidates/{id}",
        "The handle of one candidate.",
        wire.FrontierHandle,
        _candidate,
    ),
    Operation(
        "/api/v1/frontier/sources",
        "The sources of the set, each at its exact revision, with the digest of its bytes.",
        payloads.FrontierSources,
        lambda brain, settings, _: payloads.frontier_sources(brain.store),
    ),
    Operation(
        "/api/v1/anatomy",
        "The Living Anatomy feed, for read-only observation.",
        wire.AnatomyFeed,
        lambda brain, _, given: anatomy_feed(given["k"], store=brain.store),
        parameters=(ANATOMY_K,),
        etag=True,
    ),
    Operation(
        "/api/v1/receipts/verify",
        "Whether a context is what the open generation gives: VERIFIED, STALE or TAMPERED.",
        wire.Verification,
        _verified,
        methods=("POST",),
        body=wire.Context,
    ),
)
