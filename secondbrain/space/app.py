"""The application and its server.

What a request passes, outermost first: headers, log, proxy, host, CORS, rate, admission, route. So every
answer has the headers and a request id, and what is refused is refused before it costs anything.
"""

import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute
from starlette.types import Scope

from secondbrain.errors import ConfigurationError, SecondBrainError, StoreIntegrityError
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.settings import Settings, comma_separated
from secondbrain.space.headers import SecurityHeaders, security_headers
from secondbrain.space.hosts import AllowedHosts, check_hosts, check_origins
from secondbrain.space.limits import (
    MAX_CONNECTIONS,
    MAX_HEAD_BYTES,
    Admission,
    RateLimit,
    check_proxies,
    parse_rate,
)
from secondbrain.space.logs import RequestLog, log_to_stdout
from secondbrain.space.metrics import Metrics
from secondbrain.space.operations import OPERATIONS
from secondbrain.space.problems import INTERNAL, Problem, of_http, of_library, of_problem, problem_response
from secondbrain.space.reference import reference_routes
from secondbrain.space.routes import operation_routes
from secondbrain.space.work import Work
from secondbrain.store.locate import locate

if TYPE_CHECKING:
    import uvicorn

_UNMATCHED = "UNMATCHED"
_SHUTDOWN_SECONDS = 10
_BACKLOG = 2048


def create_app(
    settings: Settings | None = None,
    *,
    brain: HybridSecondBrain | None = None,
    pages: Sequence[BaseRoute] | None = None,
    with_mcp: bool = False,
) -> Starlette:
    """Return the application over a brain, by default one over the store that the settings name.

    ``pages`` are routes for people, the package's own where None; ``with_mcp`` serves MCP at ``/mcp`` too.
    Raises ConfigurationError for a setting that cannot be followed, and what the store's opening raises.
    """
    settings = settings if settings is not None else Settings.from_environment()
    brain = brain if brain is not None else HybridSecondBrain(locate(settings))
    work = Work(brain)
    metrics = Metrics() if settings.metrics else None
    routes: list[BaseRoute] = [*operation_routes(brain, settings, work), *reference_routes()]
    routes += _own_pages(brain) if pages is None else pages
    routes += [metrics.route()] if metrics is not None else []
    lifespans = []
    if with_mcp:
        from secondbrain.mcp import mount_mcp  # an extra: loaded only where asked for

        route, lifespan = mount_mcp(
            brain, comma_separated(settings.allowed_hosts), comma_separated(settings.cors_origins)
        )
        routes.append(route)
        lifespans.append(lifespan)

    @asynccontextmanager
    async def alive(_: Starlette) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = settings.threads
        async with AsyncExitStack() as stack:
            for lifespan in lifespans:
                await stack.enter_async_context(lifespan())
            await _open(work, brain)
            yield

    app = Starlette(
        routes=routes,
        middleware=_middleware(settings, _patterns(routes), metrics),
        exception_handlers={HTTPException: of_http, Problem: of_problem, SecondBrainError: of_library},
        lifespan=alive,
    )
    app.router.redirect_slashes = False  # an address is a route's or it is not
    return app


def serve(settings: Settings | None = None, *, with_mcp: bool = False) -> None:
    """Serve until stopped; logs are JSON lines on standard output. Raises as :func:`create_app` does."""
    import uvicorn

    settings = settings if settings is not None else Settings.from_environment()
    app = create_app(settings, with_mcp=with_mcp)
    config = server_config(app, settings)
    with _bound(settings) as listening:
        log_to_stdout()
        uvicorn.Server(config).run(sockets=[listening])


def _bound(settings: Settings) -> socket.socket:
    """Return a listening socket; ConfigurationError where the address cannot be had.

    uvicorn would say so in its log alone, and leave with an exit code that means something else here.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named as TCP: asyncio turns Nagle's algorithm off for such sockets alone, and with it an answer on a
    # kept connection waits 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
        listening.listen(_BACKLOG)
        return listening
    except OSError as error:
        listening.close()
        place = f"{settings.host}:{settings.port}"
        raise ConfigurationError(
            f"{place}: {error.strerror}; choose another with --host and --port"
        ) from None


def server_config(app: Starlette, settings: Settings) -> "uvicorn.Config":
    """Return how uvicorn serves the application: bounded connections, no log or proxy trust of its own."""
    import uvicorn

    protocol: Any = "h11"
    if find_spec("httptools") is not None:
        from secondbrain.space.connections import BoundedProtocol as protocol

    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=protocol,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        limit_concurrency=MAX_CONNECTIONS,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # its lines hold the query
        proxy_headers=False,  # uvicorn's default believes any program on this machine
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )


def _middleware(
    settings: Settings, route_of: Callable[[Scope], str], metrics: Metrics | None
) -> list[Middleware]:
    """Return what a request passes, outermost first."""
    probes = frozenset(one.path for one in OPERATIONS if one.probe)
    passed = [
        Middleware(SecurityHeaders, headers=security_headers(comma_separated(settings.frame_ancestors))),
        Middleware(
            RequestLog,
            route_of=route_of,
            failed=lambda scope: problem_response(scope, INTERNAL, {}),
            observe=metrics.observe if metrics is not None else None,
        ),
    ]
    if proxies := check_proxies(comma_separated(settings.trusted_proxies)):
        from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

        passed.append(Middleware(ProxyHeadersMiddleware, trusted_hosts=proxies))
    hosts = check_hosts(comma_separated(settings.allowed_hosts))
    if "*" not in hosts:
        passed.append(Middleware(AllowedHosts, allowed=hosts, probes=probes))
    if origins := check_origins(comma_separated(settings.cors_origins)):
        passed.append(
            Middleware(
                CORSMiddleware,
                allow_origins=origins,
                allow_methods=["GET", "POST"],
                allow_headers=["content-type"],
                expose_headers=["etag", "retry-after", "x-request-id"],
            )
        )
    if (rate := parse_rate(settings.rate_limit)) is not None:
        passed.append(Middleware(RateLimit, rate=rate, probes=probes))
    passed.append(Middleware(Admission, most=settings.max_concurrency, probes=probes))
    return passed


def _patterns(routes: Sequence[BaseRoute]) -> Callable[[Scope], str]:
    """Return what names the route of a request by its pattern."""
    patterns = {
        getattr(route, "endpoint", None) or getattr(route, "app", None): str(getattr(route, "path", ""))
        for route in routes
    }
    return lambda scope: patterns.get(scope.get("endpoint"), _UNMATCHED)


def _own_pages(brain: HybridSecondBrain) -> Sequence[BaseRoute]:
    """Return the package's own page; ConfigurationError where what draws it is not installed."""
    try:
        from secondbrain.space.page.routes import page_routes  # loaded only where a server is made
    except ImportError as error:
        raise ConfigurationError(
            f"serving needs the extra serve ({error.name}): pip install 'szl-second-brain[serve]'"
        ) from None
    return page_routes(brain)


async def _open(work: Work, brain: HybridSecondBrain) -> None:
    """Open the store before the first request; where it fails, ``/readyz`` says so until it is mended."""
    try:
        await work.run(brain.store.reader)
    except StoreIntegrityError:
        return
