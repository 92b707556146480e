"""The documents say what is there: every command, setting, state, mode and route; every example runs."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import get_args

import click
import pytest
from conftest import ROOT, require_shell

from secondbrain import resources, wire
from secondbrain.cli import cli
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.retrieval.status import retrieval_capabilities
from secondbrain.store.opened import Store

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *(ROOT / "docs").rglob("*.md"),
]
PACKAGED = resources.packaged_database()


def examples(kind: str) -> list[str]:
    """Return the fenced examples of the README that are marked to be run."""
    return re.findall(rf"<!-- example: {kind} -->\n```\w+\n(.*?)```", README, re.S)


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def commands(group: click.Group, above: str = "") -> list[str]:
    names = []
    for name, command in group.commands.items():
        full = f"{above}{name}"
        names += commands(command, f"{full} ") if isinstance(command, click.Group) else [full]
    return names


@pytest.mark.parametrize("command", commands(cli))
def test_every_command_is_in_the_readme(command: str) -> None:
    assert f"`{command}`" in README or f"`secondbrain {command}" in README


@pytest.mark.parametrize("command", commands(cli))
def test_every_command_has_json_and_an_example_in_its_help(command: str) -> None:
    found: click.Command = cli
    for name in command.split(" "):
        assert isinstance(found, click.Group)
        found = found.commands[name]
    text = found.get_help(click.Context(found))
    assert "--json" in text
    assert "Example: " in text


def test_the_settings_table_is_that_of_the_settings() -> None:
    assert script("readme").with_table(README) == README


def test_every_state_is_in_the_readme() -> None:
    for state in get_args(wire.ContextState):
        assert f"`{state}`" in README


def test_every_mode_is_in_the_readme(store: Store) -> None:
    for mode in (*retrieval_capabilities(HybridSecondBrain(store))["modes"],):
        assert f"`{mode}`" in README
    for mode in (
        "HYBRID_SPARSE_DENSE",
        "BM25_FALLBACK_DENSE_UNAVAILABLE",
        "…+RERANKER",
        "…+RERANKER_UNAVAILABLE",
    ):
        assert f"`{mode}`" in README


def test_the_exit_codes_are_in_the_readme() -> None:
    assert "0 done, 3 abstained (no grounded handles), 2 usage, 1 failure" in README


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


@pytest.mark.parametrize("example", examples("python"))
def test_every_python_example_runs(example: str, tmp_path: Path) -> None:
    assert PACKAGED.is_file(), "install the checkout (pip install -e .): that builds the packaged database"
    subprocess.run([sys.executable, "-c", example], check=True, cwd=tmp_path, env=_environment())


@pytest.mark.parametrize("example", examples("shell"))
def test_every_shell_example_runs(example: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    subprocess.run(["sh", "-eux", "-c", example], check=True, cwd=tmp_path, env=_environment())


@pytest.mark.shell
@pytest.mark.parametrize("example", examples("sql"))
def test_every_query_for_analysts_gives_rows_in_the_sqlite3_shell(example: str, tmp_path: Path) -> None:
    shell = require_shell()
    queries = [query.strip() for query in re.split(r"(?m)^-- .*$", example) if query.strip()]
    assert len(queries) == 6
    for query in queries:
        result = subprocess.run(
            [shell, "-readonly", "-bail", str(PACKAGED)],
            input=query,
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout.strip(), query
        assert not result.stderr, query


@pytest.mark.shell
def test_the_shell_opens_the_path_that_the_command_prints() -> None:
    require_shell()
    [example] = examples("sqlite3")
    result = subprocess.run(
        ["sh", "-c", f"{example.strip()} 'SELECT count(*) FROM chunk_handle'"],
        capture_output=True, text=True, check=True, env=_environment(),
    )  # fmt: skip
    assert result.stdout.strip() == "575"


def _environment() -> dict[str, str]:
    folder = str(Path(sys.executable).parent)
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    return {**kept, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONUTF8": "1"}
