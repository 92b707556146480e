"""How much is let in: requests at once, and requests of one client.

The rules:

 1. At most ``most`` requests are worked on or wait. One more is answered 503 with ``retry-after`` at
    once: nothing queues without end.
 2. A client is its address; an IPv6 client its /64, of which it has all addresses. Behind a proxy that
    the operator named it is the nearest address in ``X-Forwarded-For`` that is no such proxy; from
    anyone else that header is not read.
 3. Probes are always answered.
"""

import asyncio
import ipaddress
import math
import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from secondbrain.errors import ConfigurationError
from secondbrain.settings import PREFIX
from secondbrain.space.problems import OVERLOADED, TOO_MANY, problem_response

if TYPE_CHECKING:
    from limits import RateLimitItem

MAX_CONNECTIONS = 900
"""Open connections, idle ones too; below the usual 1,024 descriptors of a process."""
MAX_HEAD_BYTES = 32 * 1024
"""A request's address and headers. The longest query is 24,000: 2,000 characters, percent-encoded."""
HEAD_SECONDS = 10.0
"""How long a client may take to send them."""
SEND_SECONDS = 10.0
"""How long a client may take to read a part of its answer: until then it holds a place."""


class Admission:
    """ASGI middleware: bounds the requests that are worked on or wait."""

    def __init__(self, app: ASGIApp, *, most: int, probes: Collection[str]) -> None:
        self._app = app
        self._most = most
        self._probes = probes
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 503 at once."""
        if scope["type"] != "http" or scope["path"] in self._probes:
            await self._app(scope, receive, send)
            return
        if self._inside >= self._most:
            await problem_response(scope, OVERLOADED, {})(scope, receive, send)
            return
        self._inside += 1
        try:
            # A search in the event loop lets nobody else in. Before it begins, all that have arrived are
            # counted: those that are too many hear so now, and not when the others are done.
            await asyncio.sleep(0)
            await self._app(scope, receive, send)
        finally:
            self._inside -= 1


class RateLimit:
    """ASGI middleware: bounds the requests of one client in a window of time."""

    def __init__(self, app: ASGIApp, *, rate: "RateLimitItem", probes: Collection[str]) -> None:
        from limits.aio.storage import MemoryStorage
        from limits.aio.strategies import FixedWindowRateLimiter

        self._app = app
        self._rate = rate
        self._probes = probes
        self._limiter = FixedWindowRateLimiter(MemoryStorage())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 429 with the seconds to wait."""
        if scope["type"] != "http" or scope["path"] in self._probes:
            await self._app(scope, receive, send)
            return
        client = client_of(scope)
        if await self._limiter.hit(self._rate, client):
            await self._app(scope, receive, send)
            return
        window = await self._limiter.get_window_stats(self._rate, client)
        seconds = max(1, math.ceil(window.reset_time - time.time()))
        await problem_response(scope, TOO_MANY, {}, retry_after=str(seconds))(scope, receive, send)


def client_of(scope: Scope) -> str:
    """Return whom a request is counted for (rule 2)."""
    address = scope["client"][0] if scope.get("client") else "unknown"
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"  # one count for all: an invented name in X-Forwarded-For buys nothing
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


def parse_rate(text: str) -> "RateLimitItem | None":
    """Return the rate that a setting names, None where it is empty.

    Raises ConfigurationError for another form, and where the library that counts is not installed.
    """
    if not text:
        return None
    try:
        from limits import parse
    except ImportError:
        raise ConfigurationError(
            f"{PREFIX}RATE_LIMIT needs limits: pip install 'szl-second-brain[serve]', or set it empty"
        ) from None
    try:
        return parse(text)
    except ValueError:
        raise ConfigurationError(
            f"{PREFIX}RATE_LIMIT is {text!r}: write it as 600/minute, or leave it empty"
        ) from None


def check_proxies(proxies: Sequence[str]) -> list[str]:
    """Return proxies that are addresses or networks; ConfigurationError for any other, ``*`` too.

    With ``*`` whoever connects would say who it is.
    """
    for proxy in proxies:
        try:
            ipaddress.ip_network(proxy)
        except ValueError:
            raise ConfigurationError(
                f"{PREFIX}TRUSTED_PROXIES has {proxy!r}: write addresses or networks such as 10.0.0.0/8"
            ) from None
    return list(proxies)
