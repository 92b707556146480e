"""Which ``Host`` is answered to.

The rules:

 1. A ``Host`` that the operator did not allow is answered 421: a page that rebinds its name to this
    machine gets nothing. ``*`` allows any, ``*.example.org`` the names below example.org.
 2. Probes are answered to any: a supervisor asks by address.
"""

import re
from collections.abc import Collection, Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from secondbrain.errors import ConfigurationError
from secondbrain.settings import PREFIX
from secondbrain.space.problems import WRONG_HOST, problem_response

_ORIGIN = re.compile(r"https?://[^/\s,*]+")


def check_hosts(allowed: Sequence[str]) -> list[str]:
    """Return names and patterns; ConfigurationError for one with ``*`` elsewhere than in front."""
    for pattern in allowed:
        if "*" in pattern.removeprefix("*.") and pattern != "*":
            raise ConfigurationError(f"{PREFIX}ALLOWED_HOSTS has {pattern!r}: write NAME, *.NAME or *")
    return list(allowed)


def check_origins(allowed: Sequence[str]) -> list[str]:
    """Return origins as a browser sends them, or ``*``; ConfigurationError for anything else."""
    for origin in allowed:
        if origin != "*" and _ORIGIN.fullmatch(origin) is None:
            raise ConfigurationError(
                f"{PREFIX}CORS_ORIGINS has {origin!r}: write https://NAME or http://NAME:PORT"
            )
    return list(allowed)


class AllowedHosts:
    """ASGI middleware: answers to allowed hosts only."""

    def __init__(self, app: ASGIApp, *, allowed: Sequence[str], probes: Collection[str]) -> None:
        """``allowed`` are names and patterns as :func:`check_hosts` has them, ``probes`` are paths."""
        self._app = app
        self._names = {pattern.lower() for pattern in allowed if not pattern.startswith("*")}
        self._endings = tuple(pattern[1:].lower() for pattern in allowed if pattern.startswith("*."))
        self._probes = probes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 421."""
        if scope["type"] != "http" or scope["path"] in self._probes or self._allows(scope):
            await self._app(scope, receive, send)
            return
        await problem_response(scope, WRONG_HOST, {})(scope, receive, send)

    def _allows(self, scope: Scope) -> bool:
        given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(given) != 1:
            return False
        host = given[0].lower()
        host = host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0]
        return host in self._names or host.endswith(self._endings)
