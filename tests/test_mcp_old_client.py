"""A client on the SDK's 1.x line, from an environment of its own, is served over both transports."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from mcp_faces import application, over_http, over_stdio

from secondbrain import HybridSecondBrain, Store
from secondbrain.digests import canonical_json

pytestmark = pytest.mark.slow
CLIENT = ROOT / "tests" / "mcp_old_client.py"


@pytest.fixture(scope="module")
def old_python(request: pytest.FixtureRequest) -> Path:
    """The interpreter of an environment with mcp 1.x: made once, then found in pytest's cache."""
    cache = request.config.cache
    assert cache is not None
    folder = cache.mkdir("mcp-1.x")
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [str(python), "-m", "pip", "install", "--quiet", "mcp>=1.20,<2"],
        ):
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=300)
            except (OSError, subprocess.SubprocessError) as error:
                pytest.skip(f"mcp 1.x cannot be installed here: {type(error).__name__}")
        (folder / "complete").touch()
    return python


def heard(old_python: Path, how: str, store: Store) -> tuple[list[str], Any, Any, bool]:
    """Return what the old client got: tools, context, verification, and whether a call was refused."""
    environment = {"PYTHONPATH": str(ROOT), "SECOND_BRAIN_CORPUS": str(store.path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [str(old_python), str(CLIENT), how], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    tools, context, verification, refused = json.loads(done.stdout)
    return tools, context, verification, refused


@pytest.mark.parametrize("over", ["stdio", "http"])
def test_a_client_on_the_1_x_line_is_served(old_python: Path, store: Store, over: str) -> None:
    brain = HybridSecondBrain(store)
    if over == "stdio":
        server = over_stdio(store)
        tools, context, verification, refused = heard(
            old_python, json.dumps([server.command, *server.args]), store
        )
    else:
        with over_http(application(brain)) as address:
            tools, context, verification, refused = heard(old_python, address, store)
    assert len(tools) == 5
    assert canonical_json(context) == canonical_json(brain.context("chain of receipts", 2))
    assert verification["state"] == "VERIFIED"
    assert refused
