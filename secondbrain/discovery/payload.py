"""One source's bytes at its exact revision."""

from dataclasses import dataclass
from typing import Literal

from secondbrain.digests import sha256_bytes
from secondbrain.discovery.contracts import SourceContract

Lineage = Literal["FIRST", "SAME", "AHEAD", "DIVERGED", "NOT_CHECKED"]
"""How a revision relates to the one in the set before: NOT_CHECKED where payloads came from a folder."""


@dataclass(frozen=True)
class Payload:
    """What a source held at one commit."""

    contract: SourceContract
    revision: str
    data: bytes
    lineage: Lineage

    @property
    def sha256(self) -> str:
        """The SHA-256 of the bytes."""
        return sha256_bytes(self.data)
