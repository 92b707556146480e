"""One flipped bit, hundreds of times: our errors or UNAVAILABLE, and with a digest never an answer."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROWS, build_with_frontier, write_projection

from secondbrain.errors import SecondBrainError, StoreIntegrityError
from secondbrain.hydration import AuthorizedHydrator
from secondbrain.retrieval.frontier import anatomy_feed, frontier_search, frontier_status
from secondbrain.retrieval.hybrid import HybridSecondBrain
from secondbrain.retrieval.status import index, status
from secondbrain.store import opened
from secondbrain.store.build import build
from secondbrain.store.opened import Store, open_snapshot
from secondbrain.store.sidecar import sidecar
from secondbrain.store.verify import verify_file


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_with_frontier(tmp_path_factory.mktemp("whole"))


def flipped(whole: Path, folder: Path, *, seed: int, count: int) -> "list[tuple[int, Path]]":
    """Yield copies of a file with one bit turned; the digest of the whole file lies beside each."""
    content = whole.read_bytes()
    chance = random.Random(seed)
    path = folder / whole.name
    shutil.copy(sidecar(whole), sidecar(path))
    for _ in range(count):
        # Half of the places lie where bytes are used: an even choice would mostly hit empty space.
        at = chance.randrange(len(content))
        if chance.random() < 0.5:
            at = next((n for n in range(at, len(content)) if content[n]), at)
        changed = bytearray(content)
        changed[at] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        yield at, path


def ask(path: Path) -> None:
    """Ask for everything that a file can be asked for."""
    store = Store(path)
    context = HybridSecondBrain(store).context("receipt chain lambda ledger")
    status(store=store)
    index(store=store)
    handles = context["handles"]
    if handles:
        AuthorizedHydrator(lambda *_: True, store=store).hydrate(
            handles, principal_id="p", tenant_id="t", policy_revision="a" * 40
        )


def ask_frontier(path: Path) -> None:
    store = Store(path)
    for question in (frontier_status, lambda store: frontier_search("entropy", store=store), anatomy_feed):
        question(store=store)


def test_a_flipped_bit_is_seen_by_the_digest_beside_the_file(whole: Path, tmp_path: Path) -> None:
    for at, path in flipped(whole, tmp_path, seed=1, count=400):
        with pytest.raises(StoreIntegrityError):
            open_snapshot(path)
        context = HybridSecondBrain(Store(path)).context("receipt")
        assert context["state"] == "UNAVAILABLE", at
        assert context["handles"] == []


def test_a_flipped_bit_without_a_digest_raises_nothing_outside_our_tree(tmp_path: Path) -> None:
    """Here each opening is an audit: the file is kept small."""
    refusals = 0
    whole = build(write_projection(tmp_path / "p.jsonl", ROWS), tmp_path / "store.db").path
    folder = tmp_path / "flipped"
    folder.mkdir()
    for at, path in flipped(whole, folder, seed=2, count=200):
        sidecar(path).unlink(missing_ok=True)
        findings = verify_file(path).findings
        try:
            open_snapshot(path)
        except StoreIntegrityError:
            assert findings, at
            refusals += 1
        else:
            assert not findings, at
            ask(path)
    assert 0 < refusals < 200


@pytest.mark.parametrize("question", [ask, ask_frontier])
def test_a_flipped_bit_in_a_file_too_large_to_be_compared_raises_nothing_outside_our_tree(
    whole: Path, tmp_path: Path, question: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "FULL_DIGEST_BYTES", 0)
    for at, path in flipped(whole, tmp_path, seed=3, count=400):
        try:
            question(path)
        except SecondBrainError:
            continue
        except Exception as error:
            pytest.fail(f"bit at {at}: {error!r}")


@pytest.mark.parametrize("keep", [0, 1, 99, 100, 512, 4095, 4096, 20_000])
def test_a_file_cut_off_is_refused(whole: Path, tmp_path: Path, keep: int) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(whole.read_bytes()[:keep])
    with pytest.raises(StoreIntegrityError):
        open_snapshot(path)
    if keep < 100:  # no header of SQLite is left: there is nothing to audit
        with pytest.raises(StoreIntegrityError, match="no SQLite database"):
            verify_file(path)
    else:
        assert verify_file(path).findings


def test_pages_in_another_order_are_refused(whole: Path, tmp_path: Path) -> None:
    content = whole.read_bytes()
    path = tmp_path / "store.db"
    for first in range(1, len(content) // 4096 - 1, 5):
        a, b = first * 4096, (first + 1) * 4096
        path.write_bytes(content[:a] + content[b : b + 4096] + content[a:b] + content[b + 4096 :])
        with pytest.raises(StoreIntegrityError):
            open_snapshot(path)
