"""The Boundary view: what leaves, what never does, and what is open here now."""

from dataclasses import dataclass

from secondbrain import wire
from secondbrain.retrieval.frontier import frontier_status
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.retrieval.status import index, retrieval_capabilities, status
from secondbrain.space.page import meanings, svg


@dataclass(frozen=True)
class Boundary:
    """Everything that the Boundary view shows, from the store that is open."""

    status: wire.Status
    by_source: list[svg.Bar]
    capabilities: wire.Capabilities
    modes: list[tuple[meanings.Mode, bool]]
    """Every mode without its endings, and whether it can occur here; then the endings that can."""
    states: dict[str, str]
    digests: list[tuple[str, str | None, str]]
    frontier: wire.FrontierStatus
    authorities: dict[str, str]


def boundary(brain: HybridSecondBrain) -> Boundary:
    """Gather the view; a store that fails its check is shown as such and raises nothing."""
    here = status(store=brain.store)
    possible = retrieval_capabilities(brain)
    names = [*meanings.BASE_MODES, *(name for name in possible["modes"] if "+" in name)]
    return Boundary(
        status=here,
        by_source=svg.bars(index(store=brain.store)["sources"]),
        capabilities=possible,
        modes=[(meanings.mode(name), name in possible["modes"]) for name in names],
        states=meanings.STATES,
        digests=[
            ("generation", here["generation_sha256"], "the admitted projection, its bytes"),
            ("rows", here["rows_sha256"], "its rows, every column"),
            ("index", here["index_sha256"], "the full-text index"),
            ("aliases", here["aliases_sha256"], "the table of other spellings"),
            ("candidate set", here["candidate_set_sha256"], "the frontier, line by line"),
            ("file", here["file_sha256"], "the database file"),
        ],
        frontier=frontier_status(store=brain.store),
        authorities={
            name.removesuffix("_authority"): str(value) for name, value in wire.no_authority().items()
        },
    )
