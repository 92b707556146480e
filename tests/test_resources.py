"""The package finds its data installed and in a checkout alike."""

from pathlib import Path

import pytest
from conftest import ROOT

from secondbrain import resources


def test_a_checkout_has_its_data_at_its_top() -> None:
    assert resources.migrations_folder() == ROOT / "migrations"
    assert resources.frontier_folder() == ROOT / "frontier"
    assert resources.packaged_database() == ROOT / "secondbrain" / "data" / "second-brain.db"


def test_an_installed_package_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "secondbrain"
    (package / "migrations").mkdir(parents=True)
    (tmp_path / "migrations").mkdir()  # whatever lies beside an installed package is someone else's
    monkeypatch.setattr(resources, "_PACKAGE", package)
    assert resources.migrations_folder() == package / "migrations"
    assert resources.packaged_database() == package / "data" / "second-brain.db"


def test_every_statement_is_loaded_by_its_name_and_says_what_it_answers() -> None:
    names = [
        path.relative_to(ROOT / "sql").with_suffix("").as_posix() for path in (ROOT / "sql").rglob("*.sql")
    ]
    assert "read/bm25" in names
    for name in names:
        assert resources.statement(name).strip(), name


def test_an_unknown_statement_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="no-such"):
        resources.statement("read/no-such")
