"""A file replaced under its readers: noticed, and no request sees two generations. Threads, tasks, forks."""

import asyncio
import os
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import ROWS, row, write_projection

from secondbrain.digests import sha256_file
from secondbrain.errors import StoreIntegrityError
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.retrieval.retrieve import retrieve
from secondbrain.store.build import build
from secondbrain.store.opened import Store, open_snapshot
from secondbrain.store.sidecar import sidecar, write_sidecar

MakeStore = Callable[..., Store]


def generation_of_rows(number: int) -> list[dict[str, str]]:
    """Rows whose every source says which generation they are of."""
    return [
        row(f"doc:{n}", f"receipt {n} of the ledger", source=f"g{number}-{n}", title=f"generation {number}")
        for n in range(3 + number)
    ]


def test_a_replaced_file_is_noticed_at_the_next_request(tmp_path: Path, store: Store) -> None:
    before = retrieve("receipt", store=store)
    built = build(write_projection(tmp_path / "n.jsonl", generation_of_rows(1)), store.path)
    after = retrieve("receipt", store=store)
    assert after["generation_sha256"] == built.generation_sha256 != before["generation_sha256"]
    assert {handle["source"][:2] for handle in after["handles"]} == {"g1"}


def test_a_reader_keeps_its_generation_while_its_request_lasts(tmp_path: Path, store: Store) -> None:
    reader = store.reader()
    texts = reader.rows("read/texts")
    build(write_projection(tmp_path / "n.jsonl", generation_of_rows(1)), store.path)
    assert reader.rows("read/texts") == texts
    assert store.reader() is not reader


def test_a_byte_changed_in_place_is_noticed_even_if_the_time_is_put_back(store: Store) -> None:
    retrieve("receipt", store=store)
    found = store.path.stat()
    content = bytearray(store.path.read_bytes())
    content[-1] ^= 1
    with store.path.open("rb+") as stream:
        stream.write(content)
    os.utime(store.path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert HybridSecondBrain(store).context("receipt")["state"] == "UNAVAILABLE"


def test_a_removed_file_is_unavailable_and_a_restored_one_answers_again(store: Store, tmp_path: Path) -> None:
    kept = shutil.copy(store.path, tmp_path / "kept")
    assert retrieve("receipt", store=store)["ready"]
    store.path.unlink()
    assert retrieve("receipt", store=store)["state"] == "UNAVAILABLE"
    shutil.copy(kept, store.path)
    assert retrieve("receipt", store=store)["ready"]


def test_a_digest_that_changes_while_the_file_is_opened_is_read_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A builder finishes between the reading of the digest and of the file."""
    whole = sha256_file(store.path)
    write_sidecar(store.path, ["0" * 64])
    finish = iter([lambda: write_sidecar(store.path, [whole])])

    def read_slowly(path: Path) -> str:
        next(finish, lambda: None)()
        return sha256_file(path)

    monkeypatch.setattr("secondbrain.store.opened.sha256_file", read_slowly)
    assert open_snapshot(store.path).integrity == "FILE_DIGEST_MATCHED"


def test_threads_see_one_generation_a_request_while_a_builder_replaces_the_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    projections = [write_projection(tmp_path / f"{n}.jsonl", generation_of_rows(n)) for n in range(3)]
    known = {}
    for number, projection in enumerate(projections):
        built = build(projection, tmp_path / f"{number}.db")
        known[built.generation_sha256] = (number, built.chunks)
    build(projections[0], path)
    brain = HybridSecondBrain(Store(path))
    stop = threading.Event()
    faults: list[object] = []
    seen: set[str] = set()

    def ask() -> None:
        while not stop.is_set():
            try:
                context = brain.context("receipt ledger", k=12)
            except BaseException as error:
                faults.append(error)
                return
            if context["state"] != "GROUNDED_HANDLES_READY":
                faults.append(context)
                return
            generation = context["generation_sha256"]
            number, chunks = known[generation]
            seen.add(generation)
            if context["corpus_n"] != chunks or any(
                not handle["source"].startswith(f"g{number}-") for handle in context["handles"]
            ):
                faults.append(context)
                return

    threads = [threading.Thread(target=ask) for _ in range(4)]
    ready, go = os.pipe()
    child = os.fork()  # before there are threads: a lock of SQLite's that one holds would stay locked here
    if child == 0:
        code = 1
        try:
            os.read(ready, 1)
            for turn in range(24):
                build(projections[(turn + 1) % 3], path)
            code = 0
        finally:
            os._exit(code)
    for thread in threads:
        thread.start()
    os.write(go, b"x")
    status = os.waitpid(child, 0)[1]
    stop.set()
    for thread in threads:
        thread.join()
    assert status == 0
    assert faults == []
    assert seen == set(known)


def test_one_store_answers_threads_and_tasks_alike(store: Store) -> None:
    brain = HybridSecondBrain(store)
    wanted = brain.context("receipts chain")
    with ThreadPoolExecutor(8) as pool:
        assert all(one == wanted for one in pool.map(lambda _: brain.context("receipts chain"), range(200)))

    async def tasks() -> list[object]:
        async def here() -> object:
            await asyncio.sleep(0)
            return brain.context("receipts chain")

        return await asyncio.gather(
            *(here() for _ in range(50)),
            *(asyncio.to_thread(brain.context, "receipts chain") for _ in range(50)),
        )

    assert all(one == wanted for one in asyncio.run(tasks()))


def test_each_thread_has_a_reader_of_its_own(store: Store) -> None:
    mine = store.reader()
    assert store.reader() is mine
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(store.reader).result() is not mine


def test_a_forked_process_answers_with_a_connection_of_its_own(store: Store) -> None:
    brain = HybridSecondBrain(store)
    wanted = brain.context("receipts chain")
    mine = store.reader()
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                fresh = store.reader() is not mine
                code = 0 if fresh and all(brain.context("receipts chain") == wanted for _ in range(20)) else 2
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0, 0]
    assert brain.context("receipts chain") == wanted


def test_a_fork_while_another_thread_opens_the_file_does_not_hang(store: Store) -> None:
    store._lock.acquire()  # as a thread does that is opening the file right now
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if store.snapshot().chunk_count == 6 else 2
        finally:
            os._exit(code)
    store._lock.release()
    until = time.monotonic() + 10
    while (done := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < until:
        time.sleep(0.01)
    if done == (0, 0):
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert done == (child, 0)


def test_a_reader_opened_over_a_replacement_is_not_used(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is replaced between its check and the opening of the connection."""
    from secondbrain.store import opened

    new = write_projection(tmp_path / "n.jsonl", generation_of_rows(1))
    whole = opened.open_reader
    store.snapshot()
    replace = iter([lambda: build(new, store.path)])

    def late(path: Path) -> object:
        next(replace, lambda: None)()
        return whole(path)

    monkeypatch.setattr(opened, "open_reader", late)
    reader = store.reader()
    [(generation, *_)] = reader.rows("read/generation")
    assert generation == reader.snapshot.generation_sha256 == open_snapshot(store.path).generation_sha256


def test_a_damaged_replacement_is_refused_and_the_old_generation_is_not_served_on(store: Store) -> None:
    assert retrieve("receipt", store=store)["ready"]
    half = store.path.read_bytes()[:20_000]
    other = store.path.with_name("half")
    other.write_bytes(half)
    other.replace(store.path)
    with pytest.raises(StoreIntegrityError):
        store.reader()
    sidecar(store.path).unlink()
    with pytest.raises(StoreIntegrityError):
        store.reader()


def test_an_unchanged_file_is_opened_once(store: Store) -> None:
    assert len(ROWS) == store.snapshot().chunk_count
    assert store.snapshot() is store.snapshot()
