"""The human page: four views of one brain, drawn on the server as HTML and SVG.

In: a coordinator and a request's query string. Out: pages that hold handles, digests and numbers, and
the assets they need, named by their content. Never here: the text of a chunk or candidate, inline
script or style, a cookie, or a request to another host.

``ask`` says why handles were ranked, ``map`` draws every chunk, ``frontier`` shows what waits for review,
``boundary`` says what leaves and what never does. ``routes`` puts them on paths.
"""

from secondbrain.space.page.routes import page_routes

__all__ = ["page_routes"]
