"""One run of discovery: seven payloads in, one candidate set out.

Rules that hold here:

1. All seven or none: a source that fails leaves the set in the folder as it was, and the receipt names it.
2. Everything is screened before anything is written.
3. The same payloads give the same two files, byte for byte, wherever they come from.
4. A run that ends in a fault of a source, of GitHub or of the stored set returns its receipt; only a
   machine that cannot run it (detectors not installed, a folder that cannot be written) raises.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from secondbrain.discovery.contracts import SourceContract, load_contracts
from secondbrain.discovery.diff import diff_sets
from secondbrain.discovery.extract import extract
from secondbrain.discovery.fetch import Progress, fetch_payload, read_payloads
from secondbrain.discovery.github import DEFAULT_LIMITS, GitHub, Limits
from secondbrain.discovery.payload import Payload
from secondbrain.discovery.receipt import (
    conclude,
    conclude_failure,
    open_receipt,
    record_set,
    record_source,
)
from secondbrain.discovery.screen import require_detectors, screen_candidate, screen_payload
from secondbrain.discovery.state import CANDIDATES, STATE, CandidateSet, make_state, read_set, write_set
from secondbrain.errors import ConfigurationError, FrontierIntegrityError, SecondBrainError
from secondbrain.wire import FrontierCandidate, FrontierRun, FrontierRunState

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True)
class Access:
    """How a run reaches the world outside."""

    transport: "httpx.BaseTransport | None"
    from_dir: Path | None
    token: str | None
    progress: Progress | None
    limits: Limits


def refresh(
    out_dir: Path,
    *,
    transport: "httpx.BaseTransport | None" = None,
    from_dir: Path | None = None,
    token: str | None = None,
    progress: Progress | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> FrontierRun:
    """Read the seven sources and write their candidate set into a folder; return the receipt.

    Payloads come from GitHub, or from ``from_dir``. ``progress`` is called once a source. ``transport``
    is for tests. Raises ConfigurationError if the detectors are missing or the contracts do not hold.
    """
    receipt = open_receipt("refresh", from_dir)
    access = Access(transport, from_dir, token, progress, limits)
    try:
        return conclude(receipt, refresh_into(out_dir, load_contracts(), access, receipt))
    except ConfigurationError:
        raise
    except SecondBrainError as error:
        return conclude_failure(receipt, error)


def refresh_into(
    out_dir: Path, contracts: tuple[SourceContract, ...], access: Access, receipt: FrontierRun
) -> FrontierRunState:
    """Do a run by some contracts, noting in the receipt what it finds; raise what ends it."""
    require_detectors()
    base = _standing_set(out_dir)
    with ExitStack() as stack:
        if access.from_dir is None:
            github = GitHub(transport=access.transport, token=access.token, limits=access.limits)
            sources = _from_github(stack.enter_context(github), contracts, base)
        else:
            sources = read_payloads(access.from_dir, contracts, access.limits)
        rows, payloads = _discovered(sources, receipt, access.progress)
    state = make_state(rows, payloads)
    record_set(receipt, state, diff_sets(base[0] if base else [], rows), has_base=base is not None)
    return "REFRESHED" if write_set(out_dir, rows, state) else "NO_CHANGE"


def _discovered(
    sources: dict[str, Callable[[], Payload]], receipt: FrontierRun, progress: Progress | None
) -> tuple[list[FrontierCandidate], list[Payload]]:
    """Read, screen and extract each source in turn; return all rows in id order, and the payloads."""
    rows: list[FrontierCandidate] = []
    payloads: list[Payload] = []
    for source_id, read in sources.items():
        receipt["failed_source"] = source_id  # until it has gone through
        payload = read()
        screen_payload(payload)
        extracted = extract(payload)
        for row in extracted:
            screen_candidate(source_id, row)
        record_source(receipt, payload, extracted)
        rows += extracted
        payloads.append(payload)
        if progress is not None:
            progress(source_id, f"{len(extracted)} candidates at {payload.revision[:12]}")
    receipt["failed_source"] = None
    return sorted(rows, key=lambda row: row["id"]), payloads


def _from_github(
    github: GitHub, contracts: tuple[SourceContract, ...], base: CandidateSet | None
) -> dict[str, Callable[[], Payload]]:
    before = {source["source_id"]: source["revision"] for source in base[1]["sources"]} if base else {}

    def reader(contract: SourceContract) -> Callable[[], Payload]:
        return lambda: fetch_payload(github, contract, before.get(contract.source_id))

    return {contract.source_id: reader(contract) for contract in contracts}


def _standing_set(folder: Path) -> CandidateSet | None:
    """Return the set of a folder, or None if there is none; a damaged one is refused."""
    if not any((folder / name).exists() for name in (CANDIDATES, STATE, f"{STATE}.next")):
        return None
    try:
        return read_set(folder)
    except FrontierIntegrityError as error:
        raise FrontierIntegrityError(
            f"{error}: the set here is damaged; restore both files, or remove them and refresh again"
        ) from error
