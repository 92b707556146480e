"""Assets under names that hold their content's digest: ``page.3f9a….css``.

A name that says what it holds may be kept by a browser for ever; another content has another name.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from secondbrain.digests import sha256_bytes

FOLDER = Path(__file__).resolve().parent / "assets"
CACHE_CONTROL = "public, max-age=31536000, immutable"
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_NAME_DIGITS = 16


@dataclass(frozen=True)
class Asset:
    """One file as it is served."""

    name: str
    """With the digest: ``page.3f9a….css``."""
    content: bytes
    media_type: str


@cache
def assets() -> dict[str, Asset]:
    """Return the assets by the file names they have in the package."""
    return {path.name: _asset(path) for path in sorted(FOLDER.iterdir()) if path.suffix in _MEDIA_TYPES}


@cache
def assets_by_served_name() -> dict[str, Asset]:
    """Return the assets by the names they are served under."""
    return {asset.name: asset for asset in assets().values()}


def asset_url(file_name: str) -> str:
    """Return the path of an asset; KeyError for one that the package lacks."""
    return f"/assets/{assets()[file_name].name}"


def _asset(path: Path) -> Asset:
    content = path.read_bytes()
    digest = sha256_bytes(content)[:_NAME_DIGITS]
    return Asset(f"{path.stem}.{digest}{path.suffix}", content, _MEDIA_TYPES[path.suffix])
