"""Gauges for an operator: counts and times by route, in Prometheus text, where switched on.

The rule: a label is the pattern of a route, a method or a status, never a part of a request. So there
are as many series as routes, whatever is asked.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from secondbrain.errors import ConfigurationError
from secondbrain.settings import PREFIX

PATH = "/metrics"
_METHODS = frozenset({"GET", "HEAD", "POST"})
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Metrics:
    """One service's counters."""

    def __init__(self) -> None:
        """Raises ConfigurationError where the client library is not installed."""
        try:
            from prometheus_client import CollectorRegistry, Counter, Histogram
        except ImportError:
            raise ConfigurationError(
                f"{PREFIX}METRICS needs prometheus-client: pip install 'szl-second-brain[serve]'"
            ) from None
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "secondbrain_http_requests",
            "Requests answered.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "secondbrain_http_request_seconds",
            "Seconds from a request to the end of its answer.",
            ("route",),
            buckets=_SECONDS,
            registry=self._registry,
        )

    def observe(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(route, method if method in _METHODS else "OTHER", status).inc()
        self._seconds.labels(route).observe(seconds)

    def route(self) -> Route:
        """Return the route that shows the counters."""
        return Route(PATH, self._show, methods=["GET"])

    async def _show(self, _: Request) -> Response:
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

        return Response(generate_latest(self._registry), headers={"content-type": CONTENT_TYPE_LATEST})
