"""Payloads → candidates, each by the parser that its contract names."""

from collections.abc import Callable

from secondbrain.discovery.contracts import Parser
from secondbrain.discovery.extract_control_plane import extract_control_plane
from secondbrain.discovery.extract_formula_atlas import extract_formula_atlas
from secondbrain.discovery.extract_markdown import extract_markdown
from secondbrain.discovery.extract_public_estate import extract_public_estate
from secondbrain.discovery.payload import Payload
from secondbrain.errors import FrontierIntegrityError
from secondbrain.wire import FrontierCandidate

_EXTRACTORS: dict[Parser, Callable[[Payload], list[FrontierCandidate]]] = {
    "formula_atlas": extract_formula_atlas,
    "markdown": extract_markdown,
    "public_estate": extract_public_estate,
    "control_plane": extract_control_plane,
}


def extract(payload: Payload) -> list[FrontierCandidate]:
    """Return the rows of a payload.

    Raises FrontierIntegrityError if the payload breaks its parser's rules, or names one thing twice.
    """
    rows = _EXTRACTORS[payload.contract.parser](payload)
    if len({row["id"] for row in rows}) != len(rows):
        raise FrontierIntegrityError(f"{payload.contract.source_id}: names one thing twice")
    return rows
