"""Stored frontier rows, as the published ones, and the checks that bind them to their state."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from secondbrain import wire
from secondbrain.digests import canonical_lines_sha256, canonical_sha256

Rows = Callable[[str], Iterable[tuple[Any, ...]]]
"""Runs a named statement of ``sql/``."""
_COLUMNS = (
    "id", "title", "content", "content_sha256", "candidate_state", "admission", "source_kind",
    "source_repository", "source_revision", "source_path", "quant_domain", "proof_status", "reported_status",
)  # fmt: skip
_OPTIONAL = ("quant_domain", "proof_status", "reported_status")
SOURCE_COLUMNS: Final = (
    "source_id",
    "repository",
    "path",
    "parser",
    "revision",
    "content_sha256",
    "candidate_count",
)
"""The columns of ``frontier_source``, which are the keys of a state's source."""


def published(row: tuple[Any, ...]) -> dict[str, Any]:
    """Return a row of ``sql/read/candidates.sql`` as the candidate that discovery published."""
    values = dict(zip(_COLUMNS, row, strict=True))
    for name in _OPTIONAL:
        if values[name] is None:
            del values[name]
    return {"schema": wire.FRONTIER_CANDIDATE, "content_access": "CONTROLLER_ONLY", **values}


def frontier_findings(rows: Rows, stated: str | None) -> Iterator[str]:
    """Yield what is wrong with a stored candidate set; ``stated`` is the generation's set digest."""
    if sorted(number for (number,) in rows("verify/locked_proven")) != sorted(wire.LOCKED_PROVEN):
        yield "the locked-proven set is not the declared one"
    candidates = [published(row) for row in rows("read/candidates")]
    states = [json.loads(text) for (text,) in rows("read/frontier_state")]
    if not states:
        if stated is not None or candidates:
            yield "there are candidates, or a set digest, without a state"
        return
    [state] = states
    set_sha256 = canonical_lines_sha256(candidates)
    if set_sha256 != stated or set_sha256 != state["candidate_set_sha256"]:
        yield "the candidates do not have the stated set digest"
    unsigned = {key: value for key, value in state.items() if key != "state_sha256"}
    if canonical_sha256(unsigned) != state["state_sha256"]:
        yield "the frontier state does not have its own digest"
    sources = [dict(zip(SOURCE_COLUMNS, row, strict=True)) for row in rows("read/frontier_sources")]
    if sources != sorted(state["sources"], key=lambda source: str(source["source_id"])):
        yield "the frontier sources are not those of the state"
    for (candidate_id,) in rows("verify/strayed_candidates"):
        yield f"candidate {candidate_id!r} does not lie in its source"
