"""The page's paths. An error of the caller becomes a sentence in the page, never a stack trace.

Endpoints are plain functions: Starlette runs them on its threads, where a store keeps one reader each.
"""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from secondbrain.errors import (
    DeadlineExceeded,
    IntegrityError,
    ProviderBoundaryError,
    ProviderUnavailable,
    RetrievalBoundaryError,
    SecondBrainError,
)
from secondbrain.retrieval.asking import MAX_K
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.retrieval.query import MAX_CHARACTERS
from secondbrain.space.page import ask, asked, boundary, frontier, map as picture, meanings
from secondbrain.space.page.assets import CACHE_CONTROL, assets_by_served_name
from secondbrain.space.page.views import masthead, render
from secondbrain.store.opened import Reader

View = Callable[[Request, HybridSecondBrain], Response]


def page_routes(brain: HybridSecondBrain) -> list[BaseRoute]:
    """Return the routes of the page over one coordinator, for an application to mount at its root."""
    views: list[tuple[str, View]] = [
        ("/", _ask),
        ("/map", _map),
        ("/map.svg", _map_svg),
        ("/frontier", _frontier),
        ("/boundary", _boundary),
    ]
    routes: list[BaseRoute] = [
        Route(path, _answering(view, brain), methods=["GET"], name=f"page{path}", include_in_schema=False)
        for path, view in views
    ]
    return [*routes, Route("/assets/{name}", _asset, methods=["GET"], name="page/assets", include_in_schema=False)]


def _ask(request: Request, brain: HybridSecondBrain) -> Response:
    found = asked.parameters(request.scope["query_string"], {"q", "k"})
    query, k = asked.asked_query(found), asked.asked_k(found)
    if query is None:
        return _page(request, brain, "start.html", examples=ask.EXAMPLES, boundary=meanings, small=_small(brain, None))
    answer = ask.answer(brain, query, k)
    available = answer.context["state"] != "UNAVAILABLE"
    small = _small(brain, query) if available else None
    status = 200 if available else 503
    return _page(
        request, brain, "ask.html", status, query=query, k=k, answer=answer, examples=ask.EXAMPLES, small=small
    )


def _map(request: Request, brain: HybridSecondBrain) -> Response:
    query = asked.asked_query(asked.parameters(request.scope["query_string"], {"q"}))
    reader = brain.store.reader()
    return _page(
        request,
        brain,
        "map.html",
        query=query or "",
        atlas=picture.atlas(reader),
        light=_light(brain, reader, query),
        geometry=picture,
    )


def _map_svg(request: Request, brain: HybridSecondBrain) -> Response:
    query = asked.asked_query(asked.parameters(request.scope["query_string"], {"q"}))
    reader = brain.store.reader()
    drawn = picture.atlas(reader)
    if drawn is None:
        raise RetrievalBoundaryError(f"a map is drawn of up to {picture.MOST_MARKS} chunks; this corpus holds more")
    content = render(
        "map.svg", atlas=drawn, sheet=picture.sheet(drawn), light=_light(brain, reader, query), geometry=picture
    )
    return Response(content, media_type="image/svg+xml", headers={"cache-control": "no-cache"})


def _frontier(request: Request, brain: HybridSecondBrain) -> Response:
    found = asked.parameters(request.scope["query_string"], {"q", *frontier.FILTERS})
    filters = {name: found[name] for name in frontier.FILTERS if name in found}
    view = frontier.frontier(brain.store, filters, asked.asked_query(found))
    if isinstance(view, frontier.NoFrontier):
        return _page(request, brain, "no_frontier.html", 503, error_type=view.error_type)
    return _page(request, brain, "frontier.html", view=view)


def _boundary(request: Request, brain: HybridSecondBrain) -> Response:
    asked.parameters(request.scope["query_string"], ())
    return _page(
        request,
        brain,
        "boundary.html",
        view=boundary.boundary(brain),
        leaves=meanings.LEAVES,
        never=meanings.NEVER,
    )


def _asset(request: Request) -> Response:
    asset = assets_by_served_name().get(request.path_params["name"])
    if asset is None:
        return PlainTextResponse("No such asset; load the page anew.", 404)
    return Response(asset.content, headers={"content-type": asset.media_type, "cache-control": CACHE_CONTROL})


def _answering(view: View, brain: HybridSecondBrain) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        try:
            return view(request, brain)
        except SecondBrainError as error:
            status, title, sentence = _fault(error)
            return _page(request, brain, "fault.html", status, title=title, sentence=sentence)

    return endpoint


def _fault(error: SecondBrainError) -> tuple[int, str, str]:
    """Return status, title and sentence; what a provider or a file did wrong is named by its type alone."""
    kind = type(error).__name__
    if isinstance(error, ProviderBoundaryError):
        return 502, "Blocked", f"A provider answered outside its contract ({kind}). Nothing of its answer is shown."
    if isinstance(error, RetrievalBoundaryError):
        sentence = str(error)
        return 422, "That can’t be asked", f"{sentence[:1].upper()}{sentence[1:]}."
    if isinstance(error, ProviderUnavailable):
        return 503, "Blocked", f"A provider is out of reach ({kind}). Ask again later."
    if isinstance(error, DeadlineExceeded):
        return 503, "Took too long", "The search took longer than its time. Ask for less at once."
    if isinstance(error, IntegrityError):
        return 503, "Unavailable", f"The stored file fails its check ({kind}). An operator has to build it anew."
    return 500, "Not possible", f"The page could not be made ({kind})."


def _light(brain: HybridSecondBrain, reader: Reader, query: str | None) -> picture.Lighting:
    return picture.NO_LIGHT if query is None else picture.lighting(brain, reader, query)


def _small(brain: HybridSecondBrain, query: str | None) -> dict[str, object] | None:
    """Return the small picture beside an answer; None where there is none to draw."""
    try:
        reader = brain.store.reader()
        drawn = picture.atlas(reader)
        return None if drawn is None else {"atlas": drawn, "light": _light(brain, reader, query)}
    except IntegrityError:
        return None


def _page(
    request: Request, brain: HybridSecondBrain, template: str, status: int = 200, **values: object
) -> HTMLResponse:
    shown: dict[str, object] = {
        "masthead": masthead(brain.store),
        "here": request.url.path,
        "query": "",
        "k": asked.DEFAULT_K,
        "most_k": MAX_K,
        "most_characters": MAX_CHARACTERS,
        **values,
    }
    return HTMLResponse(render(template, **shown), status, headers={"cache-control": "no-cache"})
