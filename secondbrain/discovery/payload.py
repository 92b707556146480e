"""One source's bytes at its exact revision."""

from dataclasses import dataclass

from secondbrain.digests import sha256_bytes
from secondbrain.discovery.contracts import SourceContract
from secondbrain.wire import FrontierLineage


@dataclass(frozen=True)
class Payload:
    """What a source held at one commit."""

    contract: SourceContract
    revision: str
    data: bytes
    lineage: FrontierLineage

    @property
    def sha256(self) -> str:
        """The SHA-256 of the bytes."""
        return sha256_bytes(self.data)
