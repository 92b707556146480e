"""What tests share: a small projection, stores built from it, and where the optional material lies."""

import json
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import settings

from secondbrain.digests import canonical_json, sha256_text
from secondbrain.store.build import build
from secondbrain.store.opened import Store

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

settings.register_profile("default", deadline=None, max_examples=60)
settings.load_profile("default")


def shared(*parts: str) -> Path:
    """Return a file of the shared material beside the checkout, or skip the test."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the shared material is not beside this checkout: {'/'.join(parts)}")
    return path


def row(
    node_id: str, text: str, *, title: str | None = None, source: str | None = None, **extra: str
) -> dict[str, str]:
    """Return a projection row with its digest; title and source are the id where not given."""
    return {
        "id": node_id,
        "source": source or node_id,
        "sourceId": node_id,
        "title": title or node_id,
        "text": text,
        "sha256": sha256_text(text),
        **extra,
    }


def write_projection(path: Path, rows: Iterable[dict[str, str]]) -> Path:
    """Write rows as canonical JSON lines."""
    path.write_text("".join(canonical_json(one) + "\n" for one in rows), encoding="utf-8")
    return path


ROWS = [
    row(
        "doc:a:0001",
        "Each receipt is signed and chained to the one before it.",
        title="Receipts",
        source="doc",
    ),
    row("doc:a:0002", "The ledger keeps every run, the failed ones too.", title="Run ledger", source="doc"),
    row("doc:b:0001", "Λ uniqueness stays Conjecture 1.", title="Lambda", source="doc"),
    row("doc:b:0002", "Locked formulas have one authority.", title="Formula authority", source="doc"),
    row("note:1", "A chain of receipts proves order, not truth.", title="What a chain proves", source="note"),
    row("note:2", "OpenFile and 中文合約 and เกมคอมพิวเตอร์ stand here.", title="Scripts", source="note"),
]


def build_with_frontier(folder: Path) -> Path:
    """Build the small projection above with the committed candidate set; return the file."""
    projection = write_projection(folder / "p.jsonl", ROWS)
    return build(projection, folder / "store.db", frontier=ROOT / "frontier").path


@pytest.fixture
def make_store(tmp_path: Path) -> Callable[..., Store]:
    """Return a function that builds a store from rows."""
    count = 0

    def make(rows: Iterable[dict[str, str]] = ROWS, **options: object) -> Store:
        nonlocal count
        count += 1
        projection = write_projection(tmp_path / f"projection-{count}.jsonl", rows)
        built = build(projection, tmp_path / f"store-{count}.db", **options)  # type: ignore[arg-type]
        return Store(built.path)

    return make


@pytest.fixture
def store(make_store: Callable[..., Store]) -> Store:
    """A store of the small projection above."""
    return make_store()


@pytest.fixture(autouse=True)
def no_operators_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see no setting of the shell that runs them."""
    for name in list(os.environ):
        if name.startswith("SECOND_BRAIN_") or name == "AYLLU_BRAIN_CORPUS":
            monkeypatch.delenv(name)


def json_lines(path: Path) -> list[dict[str, object]]:
    """Read a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def require_shell() -> str:
    """Return the sqlite3 shell, or skip the test; in CI a missing shell is a failure."""
    shell = shutil.which("sqlite3")
    if shell is None:
        missing("the sqlite3 shell is not installed (Debian: sqlite3)")
    assert shell is not None
    return shell


def require_browser() -> str:
    """Return Debian's chromium, or skip the test; in CI a missing browser is a failure."""
    browser = shutil.which("chromium")
    if browser is None or shutil.which("chromedriver") is None:
        missing("chromium and its driver are not installed (Debian: chromium, chromium-driver)")
    assert browser is not None
    return browser


def missing(reason: str) -> None:
    """Skip a test for what this machine lacks; in CI, which brings it, fail."""
    if os.environ.get("SB_CI") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
