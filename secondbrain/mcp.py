"""The MCP face: five read-only tools for agents, over stdio and streamable HTTP.

The rules:

 1. An answer is the library's own payload: as structured content, and as its canonical JSON in text. Its
    output schema is that of the wire type. No chunk or candidate text is in any of them.
 2. A call has the arguments of its input schema and no others, types taken strictly; the values that were
    refused are not repeated.
 3. A fault of the caller is told in the library's words. A fault of the store, a provider or a setting is
    told by its type alone, whatever else by nothing: what happened is in the log, for the operator.
 4. No tool writes, and none reaches out of the store: each says so in its annotations.
 5. On stdio, standard output carries the protocol and nothing else; the log goes to standard error.
 6. Over HTTP, Host and Origin are checked independently of each other: a foreign Host is answered 421, a
    foreign Origin 403. No Origin is implied: a web page may call only where its origin was named.

The SDK is an extra; importing this module without it raises ConfigurationError with the remedy.
"""

import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated, Any

from pydantic import Field, create_model
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from secondbrain import __version__, wire
from secondbrain.digests import canonical_json
from secondbrain.errors import BoundaryError, ConfigurationError, SecondBrainError
from secondbrain.retrieval.asking import MAX_K
from secondbrain.retrieval.explain import explain as explained
from secondbrain.retrieval.frontier import MAX_K as MAX_FRONTIER_K
from secondbrain.retrieval.frontier import frontier_search as frontier_found
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.retrieval.query import MAX_CHARACTERS
from secondbrain.retrieval.status import status as status_of
from secondbrain.retrieval.verification import verify_receipt as receipt_verified
from secondbrain.settings import PREFIX

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.mcpserver.tools import Tool
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp.types import CallToolResult, TextContent, ToolAnnotations
except ImportError:
    raise ConfigurationError(
        "the MCP face needs the SDK `mcp>=2.3,<3`: pip install 'szl-second-brain[mcp]'"
    ) from None

PATH = "/mcp"
MAX_REQUEST_BYTES = 512 * 1024
"""Largest HTTP request body: ten times the receipt of the longest query."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""The host names answered to where none is named."""
INSTRUCTIONS = (
    "Governed retrieval: search_handles ranks chunks for a question and answers with handles (id, title, "
    "digest, source) and a ranking receipt, never with text. Cite a handle by nodeId and sha256. explain "
    "says why a node stands where it stands; verify_receipt holds an answer of search_handles against the "
    "store. An ABSTAIN state is a decision: nothing here grounds the question. Ranks and scores say how "
    "words met an index, never that something is true or proven. Frontier candidates await review."
)
READS_ONLY = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

Query = Annotated[str, Field(max_length=MAX_CHARACTERS, description="Ordinary text: nothing is syntax.")]
K = Annotated[int, Field(ge=1, le=MAX_K, description="The most handles of an answer.")]
FrontierK = Annotated[int, Field(ge=1, le=MAX_FRONTIER_K, description="The most candidates of an answer.")]
Sources = Annotated[list[str] | None, Field(description="Keep chunks of these sources only.")]
NodeId = Annotated[str, Field(max_length=MAX_CHARACTERS, description="The nodeId of a chunk handle.")]
Receipt = Annotated[dict[str, Any], Field(description="An answer of search_handles, whole and unchanged.")]
Filter = Annotated[str | None, Field(description="Keep candidates of this value only.")]

Lifespan = Callable[[], AbstractAsyncContextManager[None]]

_log = logging.getLogger(__name__)


def create_server(brain: HybridSecondBrain | None = None) -> MCPServer[Any]:
    """Return an MCP server with the five tools, by default over the operator's or packaged store.

    Raises as :func:`secondbrain.default_store` does where no brain is given.
    """
    served = brain if brain is not None else HybridSecondBrain()
    # The SDK's constructor configures the root logger of a program that has not; ours decides for itself.
    root, bystander = logging.getLogger(), logging.NullHandler()
    root.addHandler(bystander)
    try:
        return MCPServer(
            name="second-brain",
            title="Second Brain",
            instructions=INSTRUCTIONS,
            version=__version__,
            tools=_tools(served),
            subscriptions=False,  # A subscription would hold a stream, and no list here ever changes.
        )
    finally:
        root.removeHandler(bystander)


def run_stdio(brain: HybridSecondBrain | None = None) -> None:
    """Serve on standard input and output until the input ends; log warnings to standard error (rule 5).

    To be called in the main thread. Raises as :func:`create_server` does.
    """
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    server = create_server(brain)
    # The SDK reads its input in a thread, and a KeyboardInterrupt would wait for the next line of it.
    interrupted = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        server.run("stdio")
    finally:
        signal.signal(signal.SIGINT, interrupted)


def mount_mcp(
    brain: HybridSecondBrain, allowed_hosts: Sequence[str], allowed_origins: Sequence[str]
) -> tuple[Route, Lifespan]:
    """Return the route ``/mcp`` for a Starlette application, and the context that its lifespan must enter.

    ``allowed_hosts`` are host names without port; with ``*`` among them it is the loopback names alone, since
    a page that rebinds its name to this machine would pass for any. ``allowed_origins`` are whole origins, as
    ``https://example.org``. Raises ConfigurationError for any other wildcard.
    """
    face = _HttpFace(create_server(brain), _security(allowed_hosts, allowed_origins))
    # A route and no mount: a mount answers `/mcp` with a redirect. POST alone: with no session there is no
    # stream to GET and nothing to DELETE.
    return Route(PATH, face, methods=["POST"], include_in_schema=False), face.lifespan


class _HttpFace:
    """The ASGI application at ``/mcp``: each request stands alone and is answered with one JSON body."""

    def __init__(self, server: MCPServer[Any], security: TransportSecuritySettings) -> None:
        self._server = server
        self._security = security

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Answer requests while the context is open."""
        # A session manager runs once only: so a new one for each start.
        self._server.streamable_http_app(
            json_response=True,
            stateless_http=True,
            max_request_body_size=MAX_REQUEST_BYTES,
            transport_security=self._security,
        )
        async with self._server.session_manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._server.session_manager.handle_request(scope, receive, send)


def _security(allowed_hosts: Sequence[str], allowed_origins: Sequence[str]) -> TransportSecuritySettings:
    hosts = LOOPBACK if "*" in allowed_hosts else allowed_hosts
    for name in (*hosts, *allowed_origins):
        if "*" in name:
            raise ConfigurationError(
                f"{name!r} is a pattern: for {PATH} write names in full in {PREFIX}ALLOWED_HOSTS and "
                f"{PREFIX}CORS_ORIGINS"
            )
    return TransportSecuritySettings(
        allowed_hosts=[form for host in hosts for form in (host.lower(), f"{host.lower()}:*")],
        allowed_origins=list(allowed_origins),
    )


def _tools(brain: HybridSecondBrain) -> list[Tool]:
    """Return the tools over one brain. Their docstrings are what an agent reads."""

    def search_handles(
        query: Query, k: K = 6, sources: Sources = None
    ) -> Annotated[CallToolResult, wire.Context]:
        """Rank the chunks of the corpus for a question.

        Answers with handles, their evidence digests and a receipt of the ranking; no text. ready is false
        where nothing grounds the question.
        """
        return _answer(lambda: brain.context(query, k, sources))

    def frontier_search(
        query: Query,
        k: FrontierK = 12,
        kind: Filter = None,
        source_id: Filter = None,
        quant_domain: Filter = None,
    ) -> Annotated[CallToolResult, wire.FrontierSearch]:
        """Rank discovered candidates for a question.

        All of them await review: none is admitted, proven or authoritative, whatever its rank or status
        says. Answers with handles; no text.
        """
        return _answer(
            lambda: frontier_found(
                query, k, kind=kind, source_id=source_id, quant_domain=quant_domain, store=brain.store
            )
        )

    def explain(query: Query, node_id: NodeId, k: K = 6) -> Annotated[CallToolResult, wire.Explanation]:
        """Say why one chunk stands where it stands for a question, or why it is not selected.

        Gives its rank and score in each component, and which words of the question it holds, by place.
        """
        return _answer(lambda: explained(query, node_id, k, brain=brain))

    def status() -> Annotated[CallToolResult, wire.Status]:
        """Say which generation of the corpus is open, its digests and counts, and how it was checked."""
        return _answer(lambda: status_of(store=brain.store))

    def verify_receipt(context: Receipt) -> Annotated[CallToolResult, wire.Verification]:
        """Hold an answer of search_handles against the store.

        VERIFIED, STALE (another generation is open) or TAMPERED, with which digest failed and what a
        verification does not prove.
        """
        return _answer(lambda: receipt_verified(context, store=brain.store))

    return [
        _strict(search_handles, "Search handles"),
        _strict(frontier_search, "Search frontier candidates"),
        _strict(explain, "Explain a rank"),
        _strict(status, "Status"),
        _strict(verify_receipt, "Verify a receipt"),
    ]


def _strict(function: Callable[..., CallToolResult], title: str) -> Tool:
    """Return a tool that takes the arguments of a function and no others (rule 2)."""
    tool = Tool.from_function(function, title=title, annotations=READS_ONLY, structured_output=True)
    arguments = create_model(
        tool.fn_metadata.arg_model.__name__,
        __base__=tool.fn_metadata.arg_model,
        __cls_kwargs__={"extra": "forbid", "strict": True, "hide_input_in_errors": True},
    )
    tool.fn_metadata.arg_model = arguments
    tool.parameters = arguments.model_json_schema()
    return tool


def _answer(ask: Callable[[], Mapping[str, Any]]) -> CallToolResult:
    """Return a payload as a tool's result; ToolError for errors of the library (rules 1 and 3)."""
    try:
        payload = dict(ask())
    except BoundaryError as error:
        raise ToolError(str(error)) from None
    except SecondBrainError as error:
        _log.warning("%s: %s", type(error).__name__, error)
        raise ToolError(
            f"{type(error).__name__}: not the caller's fault; the server's log says what failed"
        ) from None
    return CallToolResult(
        content=[TextContent(type="text", text=canonical_json(payload))], structured_content=payload
    )
