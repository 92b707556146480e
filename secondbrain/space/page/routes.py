"""The page's paths. An error of the caller becomes a sentence in the page, never a stack trace.

Endpoints are plain functions: Starlette runs them on its threads, where a store keeps one reader each.
"""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from secondbrain.errors import IntegrityError, RetrievalBoundaryError, SecondBrainError
from secondbrain.retrieval.asking import MAX_K
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.retrieval.query import MAX_CHARACTERS
from secondbrain.space.operations import FILTERS, K
from secondbrain.space.page import ask, boundary, frontier, meanings
from secondbrain.space.page import map as picture
from secondbrain.space.page.assets import CACHE_CONTROL, assets, assets_by_served_name
from secondbrain.space.page.faults import fault
from secondbrain.space.page.views import masthead, render
from secondbrain.space.parameters import Text
from secondbrain.space.problems import Problem
from secondbrain.space.requests import query_arguments
from secondbrain.store.opened import Reader

QUESTION = Text("q", "The question.", MAX_CHARACTERS)
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
    return [
        *routes,
        Route("/assets/{name}", _asset, methods=["GET"], name="page/assets", include_in_schema=False),
        Route("/favicon.ico", _icon, methods=["GET"], name="page/icon", include_in_schema=False),
    ]


def _ask(request: Request, brain: HybridSecondBrain) -> Response:
    arguments = query_arguments(request, (QUESTION, K))
    query, k = arguments["q"], arguments["k"]
    if query is None:
        return _page(request, brain, "start.html", examples=ask.EXAMPLES, small=_small(brain, None, k))
    answer = ask.answer(brain, query, k)
    available = answer.context["state"] != "UNAVAILABLE"
    small = _small(brain, query, k) if available else None
    status = 200 if available else 503
    return _page(
        request,
        brain,
        "ask.html",
        status,
        query=query,
        k=k,
        answer=answer,
        examples=ask.EXAMPLES,
        small=small,
    )


def _map(request: Request, brain: HybridSecondBrain) -> Response:
    query = query_arguments(request, (QUESTION,))["q"]
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
    query = query_arguments(request, (QUESTION,))["q"]
    reader = brain.store.reader()
    drawn = picture.atlas(reader)
    if drawn is None:
        raise RetrievalBoundaryError(
            f"a map is drawn of up to {picture.MOST_MARKS} chunks; this corpus holds more"
        )
    content = render(
        "map.svg",
        atlas=drawn,
        sheet=picture.sheet(drawn),
        light=_light(brain, reader, query),
        geometry=picture,
    )
    return Response(content, media_type="image/svg+xml", headers={"cache-control": "no-cache"})


def _frontier(request: Request, brain: HybridSecondBrain) -> Response:
    arguments = query_arguments(request, (QUESTION, *FILTERS))
    query = arguments.pop("q")
    filters = {name: value for name, value in arguments.items() if value is not None}
    view = frontier.frontier(brain.store, filters, query)
    if isinstance(view, frontier.NoFrontier):
        return _page(request, brain, "no_frontier.html", 503, error_type=view.error_type)
    return _page(request, brain, "frontier.html", view=view)


def _boundary(request: Request, brain: HybridSecondBrain) -> Response:
    query_arguments(request, ())
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


def _icon(_: Request) -> Response:
    """Answer what browsers ask for beside a picture that is opened by itself."""
    icon = assets()["icon.svg"]
    headers = {"content-type": icon.media_type, "cache-control": "public, max-age=86400"}
    return Response(icon.content, headers=headers)


def _answering(view: View, brain: HybridSecondBrain) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        try:
            return view(request, brain)
        except (Problem, SecondBrainError) as error:
            found = fault(error)
            given = request.query_params.get("q", "")
            return _page(request, brain, "fault.html", found.status, fault=found, query=given)

    return endpoint


def _light(brain: HybridSecondBrain, reader: Reader, query: str | None, k: int = MAX_K) -> picture.Lighting:
    return picture.NO_LIGHT if query is None else picture.lighting(brain, reader, query, k)


def _small(brain: HybridSecondBrain, query: str | None, k: int) -> dict[str, object] | None:
    """Return the small picture beside an answer; None where there is none to draw."""
    try:
        reader = brain.store.reader()
        drawn = picture.atlas(reader)
        return None if drawn is None else {"atlas": drawn, "light": _light(brain, reader, query, k)}
    except IntegrityError:
        return None


def _page(
    request: Request, brain: HybridSecondBrain, template: str, status: int = 200, **values: object
) -> HTMLResponse:
    shown: dict[str, object] = {
        "masthead": masthead(brain.store),
        "here": request.url.path,
        "query": "",
        "k": K.default,
        "most_k": MAX_K,
        "most_characters": MAX_CHARACTERS,
        **values,
    }
    return HTMLResponse(render(template, **shown), status, headers={"cache-control": "no-cache"})
