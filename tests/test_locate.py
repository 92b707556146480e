"""Which file a process reads: the operator's variables, the pin, the cache, and what each refusal says."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, ROWS, row, write_projection

from secondbrain import resources
from secondbrain.digests import sha256_file
from secondbrain.errors import (
    ConfigurationError,
    CorpusIntegrityError,
    IntegrityError,
    SecondBrainError,
    StoreIntegrityError,
)
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.retrieval.retrieve import retrieve
from secondbrain.settings import Settings
from secondbrain.store import locate as located
from secondbrain.store.build import build
from secondbrain.store.locate import default_store, locate
from secondbrain.store.opened import Store
from secondbrain.store.sidecar import sidecar

Variables = Callable[..., None]


@pytest.fixture
def operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Variables:
    """Set variables as an operator does; the cache is the test's own."""
    monkeypatch.setenv("SECOND_BRAIN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(located, "_stores", {})

    def set_variables(**variables: object) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, str(value))

    return set_variables


@pytest.fixture
def projection(tmp_path: Path) -> Path:
    return write_projection(tmp_path / "operators.jsonl", [*ROWS, row("op:1", "An operator's receipt.")])


def refused(error: type[SecondBrainError], match: str) -> None:
    """The store is refused, by itself and for every caller, and nothing else steps in."""
    with pytest.raises(error, match=match):
        default_store()
    with pytest.raises(error, match=match):
        HybridSecondBrain()
    with pytest.raises(error):
        default_store()


# -- which variable ----------------------------------------------------------------------------------------


def test_a_projection_is_built_and_answers(operator: Variables, projection: Path) -> None:
    operator(SECOND_BRAIN_CORPUS=projection)
    assert default_store().snapshot().generation_sha256 == sha256_file(projection)
    assert retrieve("operator")["handles"][0]["nodeId"] == "op:1"


def test_the_variable_of_earlier_versions_is_asked_second(
    operator: Variables, projection: Path, tmp_path: Path
) -> None:
    other = write_projection(tmp_path / "other.jsonl", ROWS)
    operator(AYLLU_BRAIN_CORPUS=projection)
    assert default_store().snapshot().generation_sha256 == sha256_file(projection)
    operator(SECOND_BRAIN_CORPUS=other)
    assert default_store().snapshot().generation_sha256 == sha256_file(other)


def test_a_database_is_read_where_it_lies(operator: Variables, projection: Path, tmp_path: Path) -> None:
    built = build(projection, tmp_path / "own.db")
    operator(SECOND_BRAIN_CORPUS=built.path)
    assert default_store().path == built.path
    assert not (tmp_path / "cache").exists()
    renamed = tmp_path / "own.sqlite"
    shutil.copy(built.path, renamed)
    operator(SECOND_BRAIN_CORPUS=renamed)
    assert default_store().snapshot().integrity == "VERIFIED_IN_FULL"


def test_the_same_settings_give_the_same_store(operator: Variables, projection: Path) -> None:
    operator(SECOND_BRAIN_CORPUS=projection)
    assert default_store() is default_store()


# -- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["SECOND_BRAIN_CORPUS", "AYLLU_BRAIN_CORPUS"])
@pytest.mark.parametrize("name", ["nothing.jsonl", "nothing.db", "."])
def test_a_missing_file_stops_with_the_variable_and_the_remedy(
    operator: Variables, tmp_path: Path, variable: str, name: str
) -> None:
    path = tmp_path / name
    operator(**{variable: path})
    refused(
        ConfigurationError,
        rf"^{variable}={path}: no such file\. Correct the file or the variable, or unset it$",
    )


@pytest.mark.parametrize("variable", ["SECOND_BRAIN_CORPUS", "AYLLU_BRAIN_CORPUS"])
def test_a_projection_that_is_not_admitted_stops_with_variable_file_line_and_reason(
    operator: Variables, tmp_path: Path, variable: str
) -> None:
    bad = write_projection(tmp_path / "bad.jsonl", [ROWS[0], {**ROWS[1], "text": "another"}])
    operator(**{variable: bad})
    refused(
        CorpusIntegrityError,
        rf"^{variable}=.*bad\.jsonl, line 2: the digest .*\. Correct the file or the variable",
    )


def test_a_damaged_database_stops(operator: Variables, projection: Path, tmp_path: Path) -> None:
    built = build(projection, tmp_path / "own.db")
    content = bytearray(built.path.read_bytes())
    content[-1] ^= 1
    built.path.write_bytes(content)
    operator(SECOND_BRAIN_CORPUS=built.path)
    refused(
        StoreIntegrityError, r"^SECOND_BRAIN_CORPUS=.*own\.db: .*does not match the digest beside it; run"
    )
    sidecar(built.path).unlink()
    built.path.write_bytes(content[:9000])
    refused(StoreIntegrityError, r"^SECOND_BRAIN_CORPUS=.*own\.db: .*fails its audit: integrity")


def test_a_file_that_cannot_be_read_stops(operator: Variables) -> None:
    operator(SECOND_BRAIN_CORPUS="/proc/self/mem")
    refused(ConfigurationError, "^SECOND_BRAIN_CORPUS=/proc/self/mem: cannot be read: Input/output error")


def test_bounds_of_the_operators_projection_are_settings(operator: Variables, projection: Path) -> None:
    operator(SECOND_BRAIN_CORPUS=projection, SECOND_BRAIN_MAX_ROWS=3)
    refused(CorpusIntegrityError, "^SECOND_BRAIN_CORPUS=.*line 4: the file has more than 3 rows")
    operator(SECOND_BRAIN_MAX_ROWS=30, SECOND_BRAIN_MAX_BYTES=200)
    refused(CorpusIntegrityError, "^SECOND_BRAIN_CORPUS=.*SECOND_BRAIN_MAX_BYTES admits 200")


def test_bounds_hold_for_a_projection_that_was_built_before(operator: Variables, projection: Path) -> None:
    operator(SECOND_BRAIN_CORPUS=projection)
    default_store().snapshot()
    operator(SECOND_BRAIN_MAX_ROWS=3)
    refused(CorpusIntegrityError, "^SECOND_BRAIN_CORPUS=.*SECOND_BRAIN_MAX_ROWS admits 3")


def test_nothing_falls_back_to_the_packaged_projection(
    operator: Variables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged = build(write_projection(tmp_path / "packaged.jsonl", ROWS), tmp_path / "packaged.db")
    monkeypatch.setattr(resources, "packaged_database", lambda: packaged.path)
    assert default_store().snapshot().generation_sha256 == packaged.generation_sha256
    for path in (tmp_path / "nothing.jsonl", tmp_path, Path("/proc/self/mem")):
        operator(SECOND_BRAIN_CORPUS=path)
        refused(SecondBrainError, "SECOND_BRAIN_CORPUS")


def test_a_missing_packaged_database_says_how_to_make_it(
    operator: Variables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "packaged_database", lambda: tmp_path / "none.db")
    refused(StoreIntegrityError, r"none\.db: the packaged database is missing; .*pip install -e")


def test_an_operators_file_that_goes_bad_later_is_unavailable(
    operator: Variables, projection: Path, tmp_path: Path
) -> None:
    built = build(projection, tmp_path / "own.db")
    operator(SECOND_BRAIN_CORPUS=built.path)
    assert retrieve("receipt")["ready"]
    built.path.write_bytes(built.path.read_bytes()[:-1] + b"x")
    assert retrieve("receipt")["state"] == "UNAVAILABLE"


# -- the pin -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["jsonl", "db"])
def test_a_pin_holds_the_named_file_to_its_bytes(
    operator: Variables, projection: Path, tmp_path: Path, kind: str
) -> None:
    path = projection if kind == "jsonl" else build(projection, tmp_path / "own.db").path
    operator(SECOND_BRAIN_CORPUS=path, SECOND_BRAIN_CORPUS_SHA256=sha256_file(path))
    assert retrieve("operator")["ready"]
    operator(SECOND_BRAIN_CORPUS_SHA256="0" * 64)
    refused(
        StoreIntegrityError,
        rf"^SECOND_BRAIN_CORPUS={path}: its SHA-256 is {sha256_file(path)}, "
        rf"SECOND_BRAIN_CORPUS_SHA256 pins {'0' * 64}",
    )


def test_a_pinned_database_that_is_replaced_is_unavailable(
    operator: Variables, projection: Path, tmp_path: Path
) -> None:
    path = build(projection, tmp_path / "own.db").path
    operator(SECOND_BRAIN_CORPUS=path, SECOND_BRAIN_CORPUS_SHA256=sha256_file(path))
    assert retrieve("receipt")["ready"]
    build(write_projection(tmp_path / "other.jsonl", ROWS), path)
    assert retrieve("receipt")["state"] == "UNAVAILABLE"


@pytest.mark.parametrize("pin", ["0" * 63, "Z" * 64, "A" * 64, "x"])
def test_a_pin_in_another_form_is_refused(operator: Variables, projection: Path, pin: str) -> None:
    operator(SECOND_BRAIN_CORPUS=projection, SECOND_BRAIN_CORPUS_SHA256=pin)
    refused(ConfigurationError, "SECOND_BRAIN_CORPUS_SHA256 is not 64 lower-case hexadecimal digits")


def test_a_pin_without_a_corpus_is_refused(operator: Variables) -> None:
    operator(SECOND_BRAIN_CORPUS_SHA256="0" * 64)
    refused(ConfigurationError, "SECOND_BRAIN_CORPUS_SHA256 is set but no corpus is")


# -- the cache ---------------------------------------------------------------------------------------------


def settings(projection: Path, cache: Path) -> Settings:
    return Settings(corpus=str(projection), cache_dir=str(cache))


def test_a_projection_is_built_once_and_reused(
    projection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = locate(settings(projection, tmp_path / "cache"))
    inode = first.path.stat().st_ino
    assert first.path.parent == tmp_path / "cache"
    assert first.path.name.startswith(sha256_file(projection))
    monkeypatch.setattr("secondbrain.store.build.build", None)  # a second build would fail
    second = locate(settings(projection, tmp_path / "cache"))
    assert (second.path, second.path.stat().st_ino) == (first.path, inode)
    assert second.snapshot().integrity == "FILE_DIGEST_MATCHED"


def test_a_changed_projection_is_built_anew(projection: Path, tmp_path: Path) -> None:
    first = locate(settings(projection, tmp_path / "cache"))
    write_projection(projection, [*ROWS, row("op:2", "Another row.")])
    second = locate(settings(projection, tmp_path / "cache"))
    assert second.path != first.path
    assert second.snapshot().generation_sha256 == sha256_file(projection)


def test_a_cached_file_of_another_text_preparation_is_not_reused(
    projection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = locate(settings(projection, tmp_path / "cache"))
    monkeypatch.setattr("unicodedata.unidata_version", "99.0.0")
    assert locate(settings(projection, tmp_path / "cache")).path != first.path


@pytest.mark.parametrize("damage", [b"", b"no database", None])
def test_a_damaged_cached_file_is_built_anew(projection: Path, tmp_path: Path, damage: bytes | None) -> None:
    first = locate(settings(projection, tmp_path / "cache"))
    content = first.path.read_bytes()
    first.path.write_bytes(content[:-1] + b"x" if damage is None else damage)
    again = locate(settings(projection, tmp_path / "cache"))
    assert again.path == first.path
    assert again.path.read_bytes() == content


def test_a_cached_file_with_a_broken_digest_is_built_anew(projection: Path, tmp_path: Path) -> None:
    first = locate(settings(projection, tmp_path / "cache"))
    sidecar(first.path).write_text("no digest")
    assert locate(settings(projection, tmp_path / "cache")).snapshot().integrity == "FILE_DIGEST_MATCHED"


def test_a_cached_file_of_another_projection_is_not_served(projection: Path, tmp_path: Path) -> None:
    first = locate(settings(projection, tmp_path / "cache"))
    build(
        write_projection(tmp_path / "other.jsonl", ROWS), first.path
    )  # whole, with its digest, and not asked for
    assert locate(settings(projection, tmp_path / "cache")).snapshot().generation_sha256 == sha256_file(
        projection
    )


def test_a_cache_that_cannot_be_written_works_from_a_temporary_file(projection: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = locate(settings(projection, tmp_path / "file" / "cache"))
    assert store.snapshot().generation_sha256 == sha256_file(projection)
    assert tmp_path not in store.path.parents
    assert store.path.parent.stat().st_mode & 0o777 == 0o700
    shutil.rmtree(store.path.parent)


ASK = """
import os, sys
from secondbrain.retrieval.retrieve import retrieve
from secondbrain.store.locate import default_store
assert retrieve("receipt")["ready"]
if os.fork() == 0:
    sys.exit(0)  # it ends as any program does, and cleans up after itself only
os.wait()
assert default_store().path.exists()
assert retrieve("receipt")["ready"]
print(default_store().path)
"""


def ask(**environment: str) -> Path:
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return Path(done.stdout.strip())


def test_the_temporary_file_outlives_a_forked_process_and_goes_with_its_own(
    projection: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    path = ask(SECOND_BRAIN_CORPUS=str(projection), SECOND_BRAIN_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert path.name.endswith(".db")
    assert not path.parent.exists()


def test_the_users_cache_is_the_default(projection: Path, tmp_path: Path) -> None:
    path = ask(SECOND_BRAIN_CORPUS=str(projection), XDG_CACHE_HOME=str(tmp_path / "xdg"))
    assert path.parent == tmp_path / "xdg" / "szl-second-brain"
    path = ask(SECOND_BRAIN_CORPUS=str(projection), HOME=str(tmp_path / "home"))
    assert path.parent == tmp_path / "home" / ".cache" / "szl-second-brain"
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_processes_that_build_the_same_projection_at_once_all_answer(
    projection: Path, tmp_path: Path
) -> None:
    children = []
    for _ in range(6):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                store = locate(settings(projection, tmp_path / "cache"))
                code = 0 if all(retrieve("operator", store=store)["ready"] for _ in range(50)) else 2
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 6
    assert sorted(one.suffix for one in (tmp_path / "cache").iterdir()) == [".db", ".sha256"]


def test_a_projection_that_changes_while_it_is_read_stops(
    operator: Variables, projection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is written to between the reading of its digest and the build."""

    def read_then_change(path: Path) -> str:
        found = sha256_file(path)
        write_projection(projection, ROWS)
        return found

    monkeypatch.setattr(located, "sha256_file", read_then_change)
    operator(SECOND_BRAIN_CORPUS=projection)
    with pytest.raises(IntegrityError, match=r"^SECOND_BRAIN_CORPUS=.*the file changed while it was read"):
        default_store()


def test_a_fork_while_another_thread_builds_does_not_hang(operator: Variables, projection: Path) -> None:
    operator(SECOND_BRAIN_CORPUS=projection)
    with located._lock:
        child = os.fork()
        if child == 0:
            import signal

            code = 1
            signal.alarm(20)
            try:
                code = 0 if default_store().snapshot().chunk_count == 7 else 2
            finally:
                os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_operators_relative_path_stays_with_its_file(
    operator: Variables, projection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = build(projection, tmp_path / "own.db")
    monkeypatch.chdir(tmp_path)
    operator(SECOND_BRAIN_CORPUS="own.db")
    store: Store = default_store()
    monkeypatch.chdir("/")
    assert store.snapshot().generation_sha256 == built.generation_sha256
