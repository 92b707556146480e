"""A source that speaks of the locked-proven set names exactly the eight."""

from collections.abc import Mapping
from typing import Any

from secondbrain.discovery.shape import equal, sequence
from secondbrain.errors import FrontierIntegrityError
from secondbrain.wire import LOCKED_PROVEN


def check_locked_proven(authority: Mapping[str, Any], where: str) -> None:
    """Hold an authority's count and ids to the declared set; FrontierIntegrityError naming ``where``."""
    equal(authority.get("locked_proven_count"), len(LOCKED_PROVEN), f"{where}: locked_proven_count")
    ids = sequence(authority.get("locked_proven_ids"), f"{where}: locked_proven_ids", len(LOCKED_PROVEN))
    if sorted(map(str, ids)) != sorted(LOCKED_PROVEN):
        raise FrontierIntegrityError(f"{where}: locked_proven_ids is not the locked-proven set")
