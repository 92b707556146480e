"""The digest beside a built file, in the form that ``sha256sum -c`` reads.

A flipped bit can change a ranking without any row digest failing; the SHA-256 of the whole file sees it.
While a build replaces a file, the sidecar names the new digest and, in a second line, the old one.
"""

import os
import tempfile
from pathlib import Path

from secondbrain.digests import is_sha256
from secondbrain.durable import sync_folder, write_synced
from secondbrain.errors import StoreIntegrityError

_MOST_BYTES = 4096
"""More than two digests with the longest name that a file can have."""


def sidecar(path: Path) -> Path:
    """Return where the digest of a file lies: ``FILE.sha256``."""
    return path.with_name(path.name + ".sha256")


def read_sidecar(path: Path) -> list[str]:
    """Return the digests beside a file, newest first; none where there is no sidecar.

    Raises StoreIntegrityError for a sidecar that is not in its form.
    """
    beside = sidecar(path)
    try:
        with beside.open("rb") as stream:
            content = stream.read(_MOST_BYTES)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreIntegrityError(
            f"{beside}: cannot be read: {error.strerror}; build the file anew"
        ) from None
    *digests, rest = content.split(_after_digest(path))
    found = [digest.decode("ascii", "replace") for digest in digests]
    if rest or not all(map(is_sha256, found)) or not 1 <= len(found) <= 2:
        raise StoreIntegrityError(f"{beside}: is no digest of {path.name}; build the file anew")
    return found


def write_sidecar(path: Path, digests: list[str]) -> None:
    """Replace the sidecar of a file in one step, synced to disk; OSError where that fails."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".sha256", dir=path.parent)
    os.close(handle)
    try:
        write_synced(Path(name), b"".join(digest.encode("ascii") + _after_digest(path) for digest in digests))
        os.chmod(name, 0o644)
        os.replace(name, sidecar(path))
    except BaseException:
        os.unlink(name)
        raise
    sync_folder(path.parent)


def _after_digest(path: Path) -> bytes:
    # A file's name is bytes: not every one is Unicode.
    return b"  " + os.fsencode(path.name) + b"\n"
