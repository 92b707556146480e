"""Writes that outlast a power cut: bytes and names are on the disk when these return."""

import os
from pathlib import Path


def write_synced(path: Path, data: bytes) -> None:
    """Write a file's bytes to disk, its name left to :func:`sync_folder`; OSError where that fails."""
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Write a folder's names to disk; OSError where that fails."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
