"""Payloads of the seven sources, at exact commits: from GitHub, or from a folder.

Rules that hold here:

1. A source is the newest commit on main that changed its path: 40 hexadecimal digits, or refused.
2. Its bytes come from the raw address of that commit, 2 MiB at most, and hash to the git blob that the
   API names for path and commit.
3. A commit that is an ancestor of the one in the set before is an old revision played again: refused.
   One on another line of history is taken, and marked DIVERGED for the reviewer.
4. All seven or none: the first source that fails ends the run.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from secondbrain.digests import is_git_revision, sha256_bytes
from secondbrain.discovery.contracts import SourceContract
from secondbrain.discovery.github import DEFAULT_LIMITS, Answer, GitHub, Limits
from secondbrain.discovery.payload import Payload
from secondbrain.discovery.shape import equal, mapping, parse, sequence
from secondbrain.errors import FrontierBoundaryError, FrontierIntegrityError, ProviderUnavailable
from secondbrain.wire import FrontierLineage

BRANCH = "main"
SOURCES_FILE = "sources.json"
_LISTED_KEYS = frozenset({"source_id", "repository", "revision", "path", "bytes", "sha256"})

Progress = Callable[[str, str], None]
"""Called with a source id and what happened to it."""


def fetch_payload(github: GitHub, contract: SourceContract, before: str | None) -> Payload:
    """Return a source at its newest commit (rules 1 to 3); ``before`` is its revision in the set before."""
    revision = _newest_revision(github, contract)
    lineage = _lineage(github, contract, before, revision)
    blob = _blob_id(github, contract, revision)
    answer = github.get_raw(f"/{contract.repository}/{revision}/{contract.path}")
    _require_ok(answer, contract, "the raw file")
    if git_blob_id(answer.body) != blob:
        raise FrontierIntegrityError(
            f"{contract.source_id}: {contract.path} at {revision} is not the blob that the API names"
        )
    return Payload(contract, revision, answer.body, lineage)


def read_payloads(
    folder: Path, contracts: tuple[SourceContract, ...], limits: Limits = DEFAULT_LIMITS
) -> dict[str, Callable[[], Payload]]:
    """Return, by source id, how to read each payload of a folder: ``sources.json`` and ``ID.payload``.

    Raises FrontierIntegrityError if the list does not name exactly the sources of the contracts.
    """
    where = f"{folder}/{SOURCES_FILE}"
    listed = sequence(parse(_file(folder / SOURCES_FILE, limits), where), where, len(contracts))
    by_id = {}
    for entry in listed:
        by_id[str(mapping(entry, where, _LISTED_KEYS)["source_id"])] = entry
    if by_id.keys() != {contract.source_id for contract in contracts}:
        raise FrontierIntegrityError(f"{where}: does not name the seven sources, each once")

    def reader(contract: SourceContract) -> Callable[[], Payload]:
        return lambda: _payload_of_folder(folder, contract, by_id[contract.source_id], limits)

    return {contract.source_id: reader(contract) for contract in contracts}


def git_blob_id(data: bytes) -> str:
    """Return the id that git gives to a file's bytes (SHA-1, as git defines it)."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _newest_revision(github: GitHub, contract: SourceContract) -> str:
    answer = github.get(
        f"/repos/{contract.repository}/commits", {"sha": BRANCH, "path": contract.path, "per_page": "1"}
    )
    _require_ok(answer, contract, "the list of commits")
    where = f"{contract.source_id}: commits"
    newest = sequence(answer.json(where), where, 1)[0]
    revision = mapping(newest, where).get("sha")
    if not is_git_revision(revision):
        raise FrontierIntegrityError(f"{where}: the newest is not a full commit id")
    return str(revision)


def _lineage(github: GitHub, contract: SourceContract, before: str | None, revision: str) -> FrontierLineage:
    if before is None:
        return "FIRST"
    if before == revision:
        return "SAME"
    answer = github.get(f"/repos/{contract.repository}/compare/{before}...{revision}", {"per_page": "1"})
    if answer.status == 404:  # the commit before is gone: history was rewritten
        return "DIVERGED"
    _require_ok(answer, contract, "the comparison with the revision before")
    where = f"{contract.source_id}: comparison"
    status = mapping(answer.json(where), where).get("status")
    if status == "ahead":
        return "AHEAD"
    if status == "diverged":
        return "DIVERGED"
    raise FrontierBoundaryError(
        f"{contract.source_id}: {revision} is older than {before}: an old revision played again"
    )


def _blob_id(github: GitHub, contract: SourceContract, revision: str) -> str:
    answer = github.get(f"/repos/{contract.repository}/contents/{contract.path}", {"ref": revision})
    _require_ok(answer, contract, "the description of the file")
    where = f"{contract.source_id}: contents"
    described: Mapping[str, Any] = mapping(answer.json(where), where)
    equal(described.get("path"), contract.path, f"{where}: path")
    equal(described.get("type"), "file", f"{where}: type")
    blob = described.get("sha")
    if not is_git_revision(blob):
        raise FrontierIntegrityError(f"{where}: no full blob id")
    return str(blob)


def _require_ok(answer: Answer, contract: SourceContract, what: str) -> None:
    if answer.status != 200:
        raise ProviderUnavailable(f"{contract.source_id}: GitHub answered {answer.status} for {what}")


def _payload_of_folder(
    folder: Path, contract: SourceContract, listed: dict[str, Any], limits: Limits
) -> Payload:
    where = f"{folder}/{SOURCES_FILE}: {contract.source_id}"
    equal(listed["repository"], contract.repository, f"{where}: repository")
    equal(listed["path"], contract.path, f"{where}: path")
    if not is_git_revision(listed["revision"]):
        raise FrontierIntegrityError(f"{where}: revision is not a full commit id")
    data = _file(folder / f"{contract.source_id}.payload", limits)
    equal(listed["bytes"], len(data), f"{where}: bytes")
    equal(listed["sha256"], sha256_bytes(data), f"{where}: sha256")
    return Payload(contract, listed["revision"], data, "NOT_CHECKED")


def _file(path: Path, limits: Limits) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(limits.payload_bytes + 1)
    except OSError as error:
        raise FrontierIntegrityError(f"{path}: cannot be read ({type(error).__name__})") from error
    if len(data) > limits.payload_bytes:
        raise FrontierIntegrityError(f"{path}: over {limits.payload_bytes} bytes: refused")
    return data
