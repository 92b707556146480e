"""What browsers are told: each header is one line with its reason.

The rules:

 1. Nothing loads from elsewhere, no inline code runs, nothing is embedded, unless the operator names
    who may (SECOND_BRAIN_FRAME_ANCESTORS; a Hugging Face Space is shown inside https://huggingface.co).
 2. No cookie is set, no referrer is sent on.
 3. Every answer has them, errors too.
"""

import re
from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from secondbrain.errors import ConfigurationError
from secondbrain.settings import PREFIX

_ANCESTORS = re.compile(r"'none'|'self'|https?://[A-Za-z0-9.*-]+(:[0-9]+)?")
_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
)


def security_headers(frame_ancestors: Sequence[str]) -> list[tuple[bytes, bytes]]:
    """Return the headers of every answer; ConfigurationError for ancestors that are no CSP sources."""
    ancestors = list(frame_ancestors) or ["'none'"]
    if not all(map(_ANCESTORS.fullmatch, ancestors)) or ("'none'" in ancestors and len(ancestors) > 1):
        raise ConfigurationError(
            f"{PREFIX}FRAME_ANCESTORS is a list of origins such as https://example.org and 'self', or 'none'"
        )
    policy = "; ".join([*_POLICY, f"frame-ancestors {' '.join(ancestors)}"])
    named = [
        ("content-security-policy", policy),
        # A JSON answer is never read as a page or script.
        ("x-content-type-options", "nosniff"),
        # A query stands in the address: it goes to no other site.
        ("referrer-policy", "no-referrer"),
        # No other window or page gets hold of this one, or includes its answers without CORS.
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        # Nothing here needs a device.
        ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ]
    if ancestors == ["'none'"]:
        named.append(("x-frame-options", "DENY"))  # for browsers that do not know frame-ancestors
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in named]


class SecurityHeaders:
    """ASGI middleware: adds the headers to every answer that does not set them itself."""

    def __init__(self, app: ASGIApp, *, headers: Sequence[tuple[bytes, bytes]]) -> None:
        self._app = app
        self._headers = list(headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; complete its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def completed(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message.get("headers", [])
                names = {name for name, _ in own}
                message["headers"] = [*own, *(one for one in self._headers if one[0] not in names)]
            await send(message)

        await self._app(scope, receive, completed)
