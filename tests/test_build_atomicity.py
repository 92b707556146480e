"""A build that ends early leaves the old file as it was: killed at any step, or without room to write."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import ROOT, ROWS, row, write_projection

from secondbrain.digests import sha256_file
from secondbrain.errors import SecondBrainError, StoreIntegrityError
from secondbrain.store.build import Built, build
from secondbrain.store.opened import Store, open_snapshot
from secondbrain.store.sidecar import read_sidecar, sidecar, write_sidecar
from secondbrain.store.verify import verify_file

STEPS = frozenset({"open", "os.rename", "os.chmod", "os.remove", "sqlite3.connect", "tempfile.mkstemp"})
"""What a build does to the disk, as the interpreter itself reports it (``sys.addaudithook``)."""


def in_child(work: Callable[[], None]) -> int:
    """Run work in a forked process; return its wait status."""
    child = os.fork()
    if child == 0:
        code = 0
        try:
            work()
        except SecondBrainError:
            code = 7
        except BaseException:
            code = 9
        os._exit(code)
    return os.waitpid(child, 0)[1]


def killed_at(step: int, work: Callable[[], None]) -> bool:
    """Run work in a process that kills itself before its n-th step; say whether it came to that."""

    def dying() -> None:
        left = step

        def count(event: str, arguments: object) -> None:
            nonlocal left
            if event in STEPS:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        work()

    status = in_child(dying)
    assert os.WIFSIGNALED(status) or status == 0
    return os.WIFSIGNALED(status)


@pytest.fixture
def projections(tmp_path: Path) -> tuple[Path, Path]:
    old = write_projection(tmp_path / "old.jsonl", ROWS)
    new = write_projection(tmp_path / "new.jsonl", [*ROWS, row("note:3", "One more row.")])
    return old, new


def plain(out: Path, old: Path, new: Path) -> Built:
    return build(old, out)


def without_a_digest(out: Path, old: Path, new: Path) -> Built:
    built = build(old, out)
    sidecar(out).unlink()
    return built


def after_a_kill_before_the_rename(out: Path, old: Path, new: Path) -> Built:
    built = build(old, out)
    write_sidecar(out, ["0" * 64, built.file_sha256])
    return built


def after_a_kill_behind_the_rename(out: Path, old: Path, new: Path) -> Built:
    built = build(old, out)
    write_sidecar(out, [built.file_sha256, "0" * 64])
    return built


def with_an_alien_digest_file(out: Path, old: Path, new: Path) -> Built:
    built = build(old, out)
    sidecar(out).write_text("no digest\n")
    return built


def nothing(out: Path, old: Path, new: Path) -> None:
    return None


def only_a_stale_digest(out: Path, old: Path, new: Path) -> None:
    write_sidecar(out, ["0" * 64])


BEFORE = [
    plain,
    without_a_digest,
    after_a_kill_before_the_rename,
    after_a_kill_behind_the_rename,
    with_an_alien_digest_file,
    nothing,
    only_a_stale_digest,
]


@pytest.mark.parametrize("before", BEFORE, ids=lambda one: one.__name__)
def test_a_build_killed_before_any_of_its_steps_leaves_a_file_that_opens(
    tmp_path: Path, projections: tuple[Path, Path], before: Callable[[Path, Path, Path], Built | None]
) -> None:
    old, new = projections
    wanted = build(new, tmp_path / "elsewhere.db")
    opened_as = set()
    step = 0 if before is plain else 9  # until the tenth, only the hidden file is written
    killed = True
    while killed:
        step += 1
        folder = tmp_path / str(step)
        folder.mkdir()
        out = folder / "store.db"
        was = before(out, old, new)
        killed = killed_at(step, lambda out=out: build(new, out))
        allowed = {wanted.generation_sha256} | ({was.generation_sha256} if was else set())
        if not out.exists():
            assert was is None
            continue
        assert not verify_file(out, check_sidecar=False).findings
        if before is with_an_alien_digest_file and was is not None:
            # The old file was refused before this build began; it is not to open by being left alone.
            generation = _generation_or_none(out)
            assert generation in {None, wanted.generation_sha256}
        else:
            generation = open_snapshot(out).generation_sha256
            assert generation in allowed
        opened_as.add(generation)
    assert step > 20
    assert generation == wanted.generation_sha256
    assert read_sidecar(out) == [wanted.file_sha256]
    if was is not None:
        assert len(opened_as) == 2


def _generation_or_none(path: Path) -> str | None:
    try:
        return open_snapshot(path).generation_sha256
    except StoreIntegrityError:
        return None


def test_a_build_after_a_killed_one_finishes_and_names_its_digest_alone(
    tmp_path: Path, projections: tuple[Path, Path]
) -> None:
    old, new = projections
    out = tmp_path / "store.db"
    step, killed = 0, True
    while killed:  # each build starts from what the one before left behind
        step += 1
        build(old, out)
        killed = killed_at(step, lambda: build(new, out))
        open_snapshot(out)
        assert read_sidecar(out)[0] in {build(new, tmp_path / "n.db").file_sha256, *read_sidecar(out)}
    built = build(new, out)
    assert read_sidecar(out) == [built.file_sha256]
    assert Store(out).snapshot().integrity == "FILE_DIGEST_MATCHED"


def test_a_kill_leaves_a_refused_file_when_the_digest_that_holds_is_not_kept(
    tmp_path: Path, projections: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = projections
    monkeypatch.setattr("secondbrain.store.build._digest_that_holds", lambda out: [])
    opened = []
    step, killed = 0, True
    while killed:
        step += 1
        out = tmp_path / f"{step}.db"
        build(old, out)
        killed = killed_at(step, lambda out=out: build(new, out))
        opened.append(_generation_or_none(out))
    assert None in opened


def test_a_kill_at_any_time_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    old = write_projection(tmp_path / "old.jsonl", ROWS)
    new = write_projection(
        tmp_path / "new.jsonl", [row(f"doc:{n:04}", f"word{n % 97} stands in row {n}") for n in range(400)]
    )
    out = tmp_path / "store.db"
    generations = {build(new, out).generation_sha256, build(old, out).generation_sha256}
    started = time.monotonic()
    build(new, tmp_path / "elsewhere.db")
    whole = time.monotonic() - started
    for part in range(25):
        child = os.fork()
        if child == 0:
            build(new, out)
            os._exit(0)
        time.sleep(whole * 1.3 * part / 25)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert open_snapshot(out).generation_sha256 in generations
    assert build(new, out).generation_sha256 == open_snapshot(out).generation_sha256


@pytest.mark.slow
def test_a_build_command_killed_at_any_time_leaves_a_whole_file(tmp_path: Path) -> None:
    old = write_projection(tmp_path / "old.jsonl", ROWS)
    new = write_projection(
        tmp_path / "new.jsonl", [row(f"doc:{n:05}", f"word{n % 997} in row {n}") for n in range(5000)]
    )
    out = tmp_path / "store.db"
    generations = {build(new, out).generation_sha256, build(old, out).generation_sha256}
    code = "import sys; from secondbrain.cli import main; sys.argv[0] = 'secondbrain'; main()"
    command = [sys.executable, "-c", code, "build", "--corpus", str(new), "-o", str(out)]
    for part in range(20):
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.1 * part)
        process.kill()
        process.wait()
        assert open_snapshot(out).generation_sha256 in generations
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    assert finished.returncode == 0
    assert open_snapshot(out).generation_sha256 == build(new, tmp_path / "n.db").generation_sha256


@pytest.mark.parametrize("room", [0, 1, 4096, 40_000, 80_000, 120_000])
def test_a_build_without_room_for_its_file_says_so_and_leaves_the_old_one(tmp_path: Path, room: int) -> None:
    old = write_projection(tmp_path / "old.jsonl", ROWS)
    new = write_projection(
        tmp_path / "new.jsonl", [row(f"doc:{n:05}", f"word{n % 997} in row {n}") for n in range(1000)]
    )
    out = tmp_path / "store.db"
    was = build(old, out)
    before = out.read_bytes()
    needed = build(new, tmp_path / "n.db").path.stat().st_size
    assert room < needed

    def cramped() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        build(new, out)

    assert os.waitstatus_to_exitcode(in_child(cramped)) == 7
    assert out.read_bytes() == before
    assert open_snapshot(out).file_sha256 == was.file_sha256
    assert [path.name for path in tmp_path.glob(".*")] == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], capture_output=True, check=False
    )
    if mount.returncode:
        pytest.skip("mounting a small file system needs root")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_leaves_the_old_file_at_whatever_step_it_fills(tmp_path: Path, small_disk: Path) -> None:
    old = write_projection(tmp_path / "old.jsonl", ROWS)
    new = write_projection(tmp_path / "new.jsonl", [row(f"doc:{n:04}", f"word{n}") for n in range(60)])
    out, ballast = small_disk / "store.db", small_disk / "ballast"
    was = build(old, out)
    wanted = build(new, tmp_path / "n.db")
    outcomes = set()
    for spare in range(0, 80, 2):  # pages of 4 KiB left free
        build(old, out)
        free = os.statvfs(small_disk).f_bavail
        ballast.write_bytes(b"x" * 4096 * max(0, free - spare))
        try:
            build(new, out)
        except StoreIntegrityError as error:
            replaced = str(error).startswith(f"{out}: the new file is in place")
        else:
            replaced = True
        ballast.unlink()
        outcomes.add(replaced)
        expected = wanted if replaced else was
        assert open_snapshot(out).file_sha256 == expected.file_sha256
        assert [path.name for path in small_disk.glob(".*")] == []
    assert outcomes == {True, False}


def test_a_build_that_cannot_finish_the_digest_says_that_the_new_file_is_in_place(
    tmp_path: Path, projections: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = projections
    out = tmp_path / "store.db"
    build(old, out)

    def until_full(path: Path, digests: list[str]) -> None:
        if len(digests) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_sidecar(path, digests)

    monkeypatch.setattr("secondbrain.store.build.write_sidecar", until_full)
    with pytest.raises(
        StoreIntegrityError, match=r"the new file is in place, but the digest .* No space left"
    ):
        build(new, out)
    assert open_snapshot(out).generation_sha256 == sha256_file(new)
    sidecar(out).unlink()
    with pytest.raises(StoreIntegrityError, match="the new file is in place"):
        build(old, out)
    assert open_snapshot(out).integrity == "VERIFIED_IN_FULL"


def test_an_audit_without_room_for_its_temporary_files_cannot_run_and_finds_nothing(
    tmp_path: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row(f"doc:{n:04}", " ".join(f"w{n * 31 + m}x{m}" for m in range(60))) for n in range(3000)]
    built = build(write_projection(tmp_path / "p.jsonl", rows), tmp_path / "store.db")
    monkeypatch.setenv("SQLITE_TMPDIR", str(small_disk))
    with pytest.raises(StoreIntegrityError, match="cannot be audited: no room for temporary files"):
        verify_file(built.path)


def test_a_refused_projection_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "store.db"
    was = build(write_projection(tmp_path / "old.jsonl", ROWS), out)
    bad = write_projection(tmp_path / "bad.jsonl", [*ROWS, {**row("x", "y"), "sha256": "0" * 64}])
    with pytest.raises(SecondBrainError, match=r"bad\.jsonl, line 7"):
        build(bad, out)
    assert open_snapshot(out).file_sha256 == was.file_sha256
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bad.jsonl", "old.jsonl", "store.db", "store.db.sha256",
    ]  # fmt: skip


def test_a_file_that_fails_its_own_audit_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from secondbrain.store import digest

    out = tmp_path / "store.db"
    projection = write_projection(tmp_path / "p.jsonl", ROWS)
    was = build(projection, out)
    right = digest.rows_sha256
    wrong_once = iter([lambda rows: "0" * 64])
    monkeypatch.setattr(digest, "rows_sha256", lambda rows: next(wrong_once, right)(rows))
    with pytest.raises(StoreIntegrityError, match="fails its audit: rows-digest; nothing was replaced"):
        build(projection, out)
    assert open_snapshot(out).file_sha256 == was.file_sha256


def test_two_builders_of_one_name_leave_a_file_with_its_own_digest(tmp_path: Path) -> None:
    out = tmp_path / "store.db"
    projections = [
        write_projection(tmp_path / f"{n}.jsonl", [row(f"doc:{m}", f"word{m}") for m in range(n + 1)])
        for n in range(4)
    ]
    for _ in range(4):
        children = []
        for projection in projections:
            child = os.fork()
            if child == 0:
                for _ in range(3):
                    build(projection, out)
                os._exit(0)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0, 0]
        assert open_snapshot(out).integrity == "FILE_DIGEST_MATCHED"
        assert len(read_sidecar(out)) == 1


def test_a_target_that_is_a_folder_or_lies_nowhere_is_refused(tmp_path: Path) -> None:
    projection = write_projection(tmp_path / "p.jsonl", ROWS)
    with pytest.raises(StoreIntegrityError, match="is a folder; name a file"):
        build(projection, tmp_path)
    with pytest.raises(StoreIntegrityError, match="cannot be written: No such file or directory"):
        build(projection, tmp_path / "nowhere" / "store.db")
    with pytest.raises(StoreIntegrityError, match="cannot be written: Not a directory"):
        build(projection, projection / "store.db")
