"""Where the package's data lies: in the installed package, or beside it in a checkout."""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _folder(name: str) -> Path:
    # A wheel carries these folders inside the package; a checkout has them at its top.
    installed = _PACKAGE / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def migrations_folder() -> Path:
    """Return the folder of the schema's numbered steps."""
    return _folder("migrations")


def frontier_folder() -> Path:
    """Return the folder of the frontier contracts and the committed candidate set."""
    return _folder("frontier")


def packaged_database() -> Path:
    """Return where the packaged database lies; it is made by the build of the package."""
    return _PACKAGE / "data" / "second-brain.db"


@cache
def statement(name: str) -> str:
    """Return the text of a named statement: ``read/bm25`` is ``sql/read/bm25.sql``."""
    return (_folder("sql") / f"{name}.sql").read_text(encoding="utf-8")
