"""The public estate → one authority row, and one row a platform and product."""

from typing import Any

from secondbrain.discovery.candidate import candidate, record_content
from secondbrain.discovery.payload import Payload
from secondbrain.discovery.shape import equal, line, mapping, parse, sequence
from secondbrain.wire import FrontierCandidate

SCHEMA = "szl.public-estate/v1"
ADMISSION = "REFERENCE_ONLY_NO_PROVIDER_MUTATION"
_AUTHORITY_KEYS = ("estate", "platform_count", "public_vertical_product_count", "truth_policy")
_SURFACES = (("platforms", "platform_count"), ("public_products", "public_vertical_product_count"))


def extract_public_estate(payload: Payload) -> list[FrontierCandidate]:
    """Return the rows of the estate; FrontierIntegrityError if its schema or a count does not hold."""
    where = payload.contract.source_id
    estate = mapping(parse(payload.data, where), where)
    equal(estate.get("schema"), SCHEMA, f"{where}: schema")
    authority = {key: estate.get(key) for key in _AUTHORITY_KEYS}
    for key in ("estate", "truth_policy"):
        line(authority[key], f"{where}: {key}")
    rows = [
        candidate(
            payload,
            source_kind="estate-authority",
            stable_key="estate-authority",
            title="A11oy public estate authority",
            content=record_content(authority),
            admission=ADMISSION,
        )
    ]
    for group, count in _SURFACES:
        surfaces = sequence(estate.get(group), f"{where}: {group}")
        equal(estate.get(count), len(surfaces), f"{where}: {count}")
        for number, surface in enumerate(surfaces, 1):
            rows.append(_surface(payload, group, surface, f"{where}: {group} {number}"))
    return rows


def _surface(payload: Payload, group: str, value: Any, where: str) -> FrontierCandidate:
    surface = mapping(value, where)
    return candidate(
        payload,
        source_kind="estate-surface",
        stable_key=f"{group}:{line(surface.get('id'), f'{where}: id')}",
        title="Public estate · " + line(surface.get("title"), f"{where}: title"),
        content=record_content(surface),
        admission=ADMISSION,
    )
