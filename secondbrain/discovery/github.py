"""The only HTTP client of discovery: two hosts, bounded answers.

Rules that hold here:

1. Only the API host and the raw host are asked, by HTTPS, whatever the environment says (no proxies, no
   ``.netrc``). Both names are constants.
2. A redirect is followed only to the same host; a POST is never redirected.
3. A token goes to the API host alone, and is in no error, log or receipt.
4. An answer's bytes are counted while they are read, and one limit of time holds for everything that a
   client does. An answer over either limit is not used.
5. A rate limit is waited out as the host asks (``retry-after``, ``x-ratelimit-reset``), up to a bound;
   then the run stops with ProviderUnavailable.
"""

import json
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from secondbrain.discovery.shape import parse
from secondbrain.errors import ConfigurationError, FrontierBoundaryError, ProviderUnavailable

API_HOST = "api.github.com"
RAW_HOST = "raw.githubusercontent.com"
TOKEN_VARIABLES = ("GH_READ_TOKEN", "GITHUB_TOKEN")
"""Environment variables that may hold a token, the first one that is set counts."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_RATE_LIMITED = frozenset({403, 429, 503})


@dataclass(frozen=True)
class Limits:
    """The bounds of one run."""

    payload_bytes: int = 2 * 1024 * 1024  # one source
    answer_bytes: int = 4 * 1024 * 1024  # one answer of the API: a payload in Base64 and room to spare
    whole_seconds: float = 180.0  # all requests of a run together
    read_seconds: float = 15.0  # silence within one answer
    wait_seconds: float = 60.0  # one wait for a rate limit
    waits: int = 2  # waits for one request
    redirects: int = 3


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class Answer:
    """One complete answer."""

    status: int
    headers: httpx.Headers
    body: bytes

    def json(self, where: str) -> Any:
        """Return the body as strict JSON; FrontierIntegrityError that names ``where`` otherwise."""
        return parse(self.body, where)


def token_from(environ: Mapping[str, str]) -> str | None:
    """Return the token that an environment offers, if any."""
    return next((environ[name] for name in TOKEN_VARIABLES if environ.get(name)), None)


class GitHub:
    """A client for one run; its clock starts when it is made."""

    def __init__(
        self, *, transport: httpx.BaseTransport | None, token: str | None, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
            raise ConfigurationError(f"{' or '.join(TOKEN_VARIABLES)}: not a token (blank or odd characters)")
        self.limits = limits
        self.has_token = token is not None
        self._token = token
        self._deadline = time.monotonic() + limits.whole_seconds
        self._client = httpx.Client(transport=transport, trust_env=False, follow_redirects=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def get(self, path: str, params: Mapping[str, str] | None = None) -> Answer:
        """Ask the API; the answer may have any status but a rate limit."""
        address = httpx.URL(f"https://{API_HOST}{path}", params=dict(params or {}))
        return self._answered("GET", address, None, self.limits.answer_bytes)

    def get_raw(self, path: str) -> Answer:
        """Ask the raw host for one file."""
        return self._answered("GET", httpx.URL(f"https://{RAW_HOST}{path}"), None, self.limits.payload_bytes)

    def post(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Send a JSON body to the API."""
        content = json.dumps(body, ensure_ascii=False).encode("utf-8")
        address = httpx.URL(f"https://{API_HOST}{path}")
        return self._answered("POST", address, content, self.limits.answer_bytes)

    def _answered(self, method: str, address: httpx.URL, content: bytes | None, limit: int) -> Answer:
        waits = redirects = 0
        while True:
            answer = self._complete(method, address, content, limit)
            if answer.status in _RATE_LIMITED and (wait := _asked_wait(answer)) is not None:
                waits += 1
                self._wait(wait, waits, address)
            elif answer.status in _REDIRECTS:
                redirects += 1
                address = self._redirected(method, address, answer, redirects)
            else:
                return answer

    def _complete(self, method: str, address: httpx.URL, content: bytes | None, limit: int) -> Answer:
        """Send one request and read its answer within the limits (rule 4)."""
        headers, timeout = self._headers(address.host), self._timeout(address)
        build = self._client.build_request
        request = build(method, address, content=content, headers=headers, timeout=timeout)
        body = bytearray()
        try:
            with closing(self._client.send(request, stream=True)) as response:
                if response.headers.get("content-encoding", "identity") != "identity":
                    raise FrontierBoundaryError(f"{_place(address)}: compressed, which was not asked for")
                for chunk in response.iter_raw():
                    body += chunk
                    if len(body) > limit:
                        raise FrontierBoundaryError(f"{_place(address)}: over {limit} bytes: refused")
                    self._timeout(address)
        except httpx.HTTPError as error:
            raise ProviderUnavailable(
                f"{_place(address)}: no complete answer ({type(error).__name__})"
            ) from None  # an error of httpx holds the request, and so the token
        return Answer(response.status_code, response.headers, bytes(body))

    def _headers(self, host: str) -> dict[str, str]:
        headers = {"Accept-Encoding": "identity", "User-Agent": "szl-second-brain"}
        if host == API_HOST:
            headers |= {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
            if self._token is not None:
                headers["Authorization"] = f"Bearer {self._token}"
        return headers

    def _timeout(self, address: httpx.URL) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise ProviderUnavailable(f"{_place(address)}: over {self.limits.whole_seconds:g} s: stopped")
        return min(left, self.limits.read_seconds)

    def _wait(self, seconds: float, waits: int, address: httpx.URL) -> None:
        longest = min(self.limits.wait_seconds, self._deadline - time.monotonic())
        if waits > self.limits.waits or seconds > longest:
            raise ProviderUnavailable(
                f"{_place(address)}: rate limit, {seconds:.0f} s to wait: run again later, or with a token"
            )
        time.sleep(seconds)

    def _redirected(self, method: str, address: httpx.URL, answer: Answer, redirects: int) -> httpx.URL:
        target = address.join(answer.headers.get("location", ""))
        parts = urlsplit(str(target))
        same_host = (parts.scheme, parts.netloc) == ("https", address.host)
        if method != "GET" or not same_host or redirects > self.limits.redirects:
            raise FrontierBoundaryError(f"{_place(address)}: a redirect that is not followed")
        return target


def _asked_wait(answer: Answer) -> float | None:
    """Return the seconds that a rate-limited answer asks to wait, or None if it is about something else."""
    retry_after = answer.headers.get("retry-after", "")
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    reset = answer.headers.get("x-ratelimit-reset", "")
    if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isascii() and reset.isdigit():
        return max(0.0, float(reset) - time.time())
    return None


def _place(address: httpx.URL) -> str:
    return f"{address.host}{address.path}"
