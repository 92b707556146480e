"""The digest beside a built file, in the form that ``sha256sum -c`` reads.

A flipped bit can change a ranking without any row digest failing; the SHA-256 of the whole file sees it.
While a build replaces a file, the sidecar names the new digest and, in a second line, the old one.
"""

import os
import tempfile
from pathlib import Path

from secondbrain.digests import is_sha256
from secondbrain.errors import StoreIntegrityError


def sidecar(path: Path) -> Path:
    """Return where the digest of a file lies: ``FILE.sha256``."""
    return path.with_name(path.name + ".sha256")


def read_sidecar(path: Path) -> list[str]:
    """Return the digests beside a file, newest first; none where there is no sidecar.

    Raises StoreIntegrityError for a sidecar that is not in its form.
    """
    beside = sidecar(path)
    try:
        lines = beside.read_bytes().decode("ascii").removesuffix("\n").split("\n")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError):
        raise StoreIntegrityError(f"{beside}: cannot be read as a digest file; build the file anew") from None
    digests = [line[:64] for line in lines]
    wanted = [f"{digest}  {path.name}" for digest in digests]
    if lines != wanted or not all(map(is_sha256, digests)) or not 1 <= len(digests) <= 2:
        raise StoreIntegrityError(f"{beside}: is no digest of {path.name}; build the file anew")
    return digests


def write_sidecar(path: Path, digests: list[str]) -> None:
    """Replace the sidecar of a file in one step, synced to disk; OSError where that fails."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".sha256", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            stream.writelines(f"{digest}  {path.name}\n" for digest in digests)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o644)
        os.replace(name, sidecar(path))
    except BaseException:
        os.unlink(name)
        raise
