"""The candidate set on disk: ``candidates.jsonl`` and ``state.json``, written together or not at all.

Rules that hold here:

1. Rows are canonical lines in the order of their ids, each once. ``candidate_set_sha256`` is over these
   lines, each with its newline; ``state_sha256`` over the canonical state without that key.
2. The same rows and payloads give the same bytes on every machine: no clock, no path, no version.
3. Reading checks everything that the two files claim. A row or state that fails is named by file and
   line, and nothing of the set is returned.
4. The two files change as one. Both new files are written and synced under ``.next`` names; the rename
   that makes ``state.json.next`` appear is the decision. Before it the old set is read, after it the new
   one, wherever a process is killed; the next writer finishes what was decided. Should someone copy the
   two plain files in between, they disagree and are refused.
"""

import fcntl
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from secondbrain.digests import (
    canonical_json,
    canonical_lines_sha256,
    canonical_sha256,
    is_git_revision,
    is_sha256,
    sha256_text,
)
from secondbrain.discovery.contracts import FIXED, SOURCE_KINDS
from secondbrain.discovery.extract_formula_atlas import MEMBERSHIP
from secondbrain.discovery.identity import ids_of
from secondbrain.discovery.payload import Payload
from secondbrain.discovery.shape import equal, line, mapping, parse, sequence, text
from secondbrain.durable import sync_folder, write_synced
from secondbrain.errors import FrontierIntegrityError
from secondbrain.wire import (
    FRONTIER_CANDIDATE,
    FRONTIER_STATE,
    FrontierCandidate,
    FrontierSource,
    FrontierState,
    no_authority,
)

CANDIDATES = "candidates.jsonl"
STATE = "state.json"
MAX_BYTES = 64 * 1024 * 1024
LEARNING_DEFINITION = (
    "Candidates of public sources, named by their content, are put before a person. "
    "Nothing here trains a model, and nothing becomes true by being listed."
)

_OPTIONAL = {
    "quant_domain": frozenset({"attributed-formula", "quant-domain"}),
    "proof_status": frozenset({"executable-formula"}),
    "reported_status": frozenset({"attributed-formula"}),
}
"""Each optional field, and the only kinds of rows that have it: status fields never meet."""

_LINE_FIELDS = (
    "id",
    "title",
    "content_sha256",
    "admission",
    "source_kind",
    "source_repository",
    "source_revision",
    "source_path",
)
_FIXED_FIELDS = {
    "schema": FRONTIER_CANDIDATE,
    "content_access": "CONTROLLER_ONLY",
    "candidate_state": "DISCOVERED_REVIEW_REQUIRED",
}
_SOURCE_KEYS = frozenset(FrontierSource.__annotations__)

CandidateSet = tuple[list[FrontierCandidate], FrontierState]


def make_state(rows: Sequence[FrontierCandidate], payloads: Iterable[Payload]) -> FrontierState:
    """Return the state of a set: its digests and counts, and its sources at their revisions."""
    sources: list[FrontierSource] = [
        {
            "source_id": payload.contract.source_id,
            "repository": payload.contract.repository,
            "path": payload.contract.path,
            "parser": payload.contract.parser,
            "revision": payload.revision,
            "content_sha256": payload.sha256,
            "candidate_count": _count_of(rows, payload.contract.repository, payload.contract.path),
        }
        for payload in sorted(payloads, key=lambda payload: payload.contract.source_id)
    ]
    state: dict[str, Any] = {**_claims(rows), "sources": sources, "source_count": len(sources)}
    return cast(FrontierState, {**state, "state_sha256": canonical_sha256(state)})


def candidates_bytes(rows: Iterable[FrontierCandidate]) -> bytes:
    """Return ``candidates.jsonl`` for rows in id order."""
    return "".join(canonical_json(row) + "\n" for row in rows).encode("utf-8")


def state_bytes(state: FrontierState) -> bytes:
    """Return ``state.json``: sorted and indented, for people who review its changes."""
    return (json.dumps(state, ensure_ascii=False, sort_keys=True, indent=2) + "\n").encode("utf-8")


def read_set(folder: Path) -> CandidateSet:
    """Return the rows and the state of a folder, after every check (rule 3).

    A set that was decided on and not yet renamed in full is read from its ``.next`` files (rule 4).
    Raises FrontierIntegrityError naming the file and, for a row, its line.
    """
    with _locked(folder, fcntl.LOCK_SH):
        names = {name: _standing(folder, name) for name in (CANDIDATES, STATE)}
        lines, state = _read(names[CANDIDATES]), _read(names[STATE])
    rows = _checked_rows(lines, names[CANDIDATES])
    return rows, _checked_state(state, rows, names[STATE])


def write_set(folder: Path, rows: Sequence[FrontierCandidate], state: FrontierState) -> bool:
    """Write a set into a folder, both files or none (rule 4); say whether anything changed.

    The folder is made if need be. One writer at a time; OSError leaves the old set in force.
    """
    folder.mkdir(parents=True, exist_ok=True)
    new = {CANDIDATES: candidates_bytes(rows), STATE: state_bytes(state)}
    with _locked(folder, fcntl.LOCK_EX):
        _finish_decided(folder)
        if all(_bytes_or_none(folder / name) == data for name, data in new.items()):
            return False
        write_synced(folder / f"{CANDIDATES}.next", new[CANDIDATES])
        write_synced(folder / f"{STATE}.tmp", new[STATE])
        os.replace(folder / f"{STATE}.tmp", folder / f"{STATE}.next")
        sync_folder(folder)
        _finish_decided(folder)
    return True


@contextmanager
def _locked(folder: Path, lock: int) -> Iterator[None]:
    """Hold a lock on a folder: many readers or one writer. No lock file is left behind."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise FrontierIntegrityError(f"{folder}: not a readable folder ({type(error).__name__})") from error
    try:
        fcntl.flock(handle, lock)
        yield
    finally:
        os.close(handle)


# -- reading -----------------------------------------------------------------------------------------------


def _standing(folder: Path, name: str) -> Path:
    """Return the file that counts for a name: its ``.next`` once a set is decided on."""
    decided = (folder / f"{STATE}.next").exists()
    following = folder / f"{name}.next"
    return following if decided and following.exists() else folder / name


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise FrontierIntegrityError(f"{path}: cannot be read ({type(error).__name__})") from error
    if len(data) > MAX_BYTES:
        raise FrontierIntegrityError(f"{path}: over {MAX_BYTES} bytes")
    return data


def _checked_rows(data: bytes, path: Path) -> list[FrontierCandidate]:
    if data and not data.endswith(b"\n"):
        raise FrontierIntegrityError(f"{path}: the last line has no newline: the file is cut off")
    rows: list[FrontierCandidate] = []
    for number, written in enumerate(data.split(b"\n")[:-1], 1):
        where = f"{path}:{number}"
        row = _checked_row(mapping(parse(written, where), where), where)
        if canonical_json(row).encode("utf-8") != written:
            raise FrontierIntegrityError(f"{where}: not canonical JSON")
        if rows and row["id"] <= rows[-1]["id"]:
            raise FrontierIntegrityError(f"{where}: ids do not rise")
        rows.append(row)
    return rows


def _checked_row(row: dict[str, Any], where: str) -> FrontierCandidate:
    text(row.get("content"), f"{where}: content")
    for field in _LINE_FIELDS:
        line(row.get(field), f"{where}: {field}")
    for field, value in _FIXED_FIELDS.items():
        equal(row.get(field), value, f"{where}: {field}")
    wanted = {field for field, kinds in _OPTIONAL.items() if row["source_kind"] in kinds}
    mapping(row, where, frozenset({"content", *_LINE_FIELDS, *_FIXED_FIELDS, *wanted}))
    for field in wanted:
        line(row[field], f"{where}: {field}")
    checked = cast(FrontierCandidate, row)
    equal(row["content_sha256"], sha256_text(row["content"]), f"{where}: content_sha256")
    if not is_git_revision(row["source_revision"]):
        raise FrontierIntegrityError(f"{where}: source_revision is not 40 hexadecimal digits")
    if row["id"] not in ids_of(checked):
        raise FrontierIntegrityError(f"{where}: the id is not the one of what the row says it is")
    if row["source_kind"] == "attributed-formula" and not row["content"].endswith(f": {MEMBERSHIP}"):
        raise FrontierIntegrityError(f"{where}: does not say that its locked-proven membership is unknown")
    return checked


def _checked_state(data: bytes, rows: list[FrontierCandidate], path: Path) -> FrontierState:
    where = str(path)
    state = mapping(parse(data, where), where, frozenset(FrontierState.__annotations__))
    for key, value in _claims(rows).items():
        equal(state[key], value, f"{where}: {key}")
    _check_sources(sequence(state["sources"], f"{where}: sources", len(FIXED)), rows, where)
    equal(state["source_count"], len(FIXED), f"{where}: source_count")
    signed = {key: value for key, value in state.items() if key != "state_sha256"}
    equal(state["state_sha256"], canonical_sha256(signed), f"{where}: state_sha256")
    checked = cast(FrontierState, state)
    if state_bytes(checked) != data:
        raise FrontierIntegrityError(f"{where}: not written as this program writes it")
    return checked


def _check_sources(sources: list[Any], rows: list[FrontierCandidate], where: str) -> None:
    """Hold the sources of a state to the seven fixed ones, and the rows to the sources."""
    revisions: dict[tuple[str, str], tuple[str, frozenset[str]]] = {}
    for source, (source_id, (repository, path, parser)) in zip(sources, sorted(FIXED.items()), strict=True):
        place = f"{where}: source {source_id}"
        mapping(source, place, _SOURCE_KEYS)
        stated = tuple(source[key] for key in ("source_id", "repository", "path", "parser"))
        equal(stated, (source_id, repository, path, parser), place)
        if not (is_git_revision(source["revision"]) and is_sha256(source["content_sha256"])):
            raise FrontierIntegrityError(f"{place}: revision or content_sha256 is not a full one")
        equal(source["candidate_count"], _count_of(rows, repository, path), f"{place}: candidate_count")
        revisions[repository, path] = source["revision"], SOURCE_KINDS[parser]
    for number, row in enumerate(rows, 1):
        revision, kinds = revisions.get((row["source_repository"], row["source_path"]), ("", frozenset()))
        if row["source_revision"] != revision or row["source_kind"] not in kinds:
            raise FrontierIntegrityError(
                f"{where}: row {number} of {CANDIDATES} has no source, revision or kind that the state names"
            )


def _claims(rows: Sequence[FrontierCandidate]) -> dict[str, Any]:
    """Return what a state says of its rows, and what every state says."""
    domains = Counter(row["quant_domain"] for row in rows if "quant_domain" in row)
    return {
        "schema": FRONTIER_STATE,
        "state": "REVIEW_REQUIRED",
        "candidate_count": len(rows),
        "candidate_set_sha256": canonical_lines_sha256(rows),
        "source_kind_counts": dict(sorted(Counter(row["source_kind"] for row in rows).items())),
        "quant_domain_counts": dict(sorted(domains.items())),
        "lambda": "CONJECTURE_1",
        "learning_definition": LEARNING_DEFINITION,
        "public_content_access": "HANDLES_ONLY",
        "controller_content_access": "AUTHORIZED_CONTROLLER_ONLY",
        "private_graph_nodes_loaded": 0,
        "raw_graph_nodes_admitted_to_gradients": 0,
        **no_authority(),
    }


def _count_of(rows: Iterable[FrontierCandidate], repository: str, path: str) -> int:
    return sum((row["source_repository"], row["source_path"]) == (repository, path) for row in rows)


# -- writing -----------------------------------------------------------------------------------------------


def _finish_decided(folder: Path) -> None:
    """Rename a decided set into place, the state last; forget files of an undecided one."""
    if (folder / f"{STATE}.next").exists():
        if (folder / f"{CANDIDATES}.next").exists():
            os.replace(folder / f"{CANDIDATES}.next", folder / CANDIDATES)
            sync_folder(folder)
        os.replace(folder / f"{STATE}.next", folder / STATE)
        sync_folder(folder)
    for leftover in (f"{CANDIDATES}.next", f"{STATE}.tmp"):
        (folder / leftover).unlink(missing_ok=True)


def _bytes_or_none(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
