"""What changed between two candidate sets, for the person who reviews it: ids and fields, no text."""

from collections.abc import Iterable, Sequence
from typing import Literal

from secondbrain.digests import canonical_lines_sha256
from secondbrain.wire import FrontierCandidate, FrontierChanges, FrontierDiff, FrontierDiffEntry

Change = Literal["added", "changed", "removed", "unchanged"]
CHANGES: tuple[Change, ...] = ("added", "changed", "removed", "unchanged")


def diff_sets(base: Sequence[FrontierCandidate], new: Sequence[FrontierCandidate]) -> FrontierDiff:
    """Compare two sets of rows in id order, such as :func:`state.read_set` returns them."""
    before, after = {row["id"]: row for row in base}, {row["id"]: row for row in new}
    found: dict[Change, list[FrontierCandidate]] = {change: [] for change in CHANGES}
    fields: dict[str, list[str]] = {}
    for id_ in sorted(before.keys() | after.keys()):
        if id_ not in before:
            found["added"].append(after[id_])
        elif id_ not in after:
            found["removed"].append(before[id_])
        elif fields_changed := _changed_fields(before[id_], after[id_]):
            fields[id_] = fields_changed
            found["changed"].append(after[id_])
        else:
            found["unchanged"].append(after[id_])
    groups = [
        (row["source_repository"], row["source_kind"], change) for change in CHANGES for row in found[change]
    ]
    return {
        "schema": "szl.second-brain.frontier-diff/v1",
        "base_candidate_set_sha256": canonical_lines_sha256(base),
        "candidate_set_sha256": canonical_lines_sha256(new),
        "counts": _counts(change for _, _, change in groups),
        "revision_only": sum(changed == ["source_revision"] for changed in fields.values()),
        "by_repository": _grouped((repository, change) for repository, _, change in groups),
        "by_kind": _grouped((kind, change) for _, kind, change in groups),
        "added": [_entry(row) for row in found["added"]],
        "changed": [{**_entry(row), "fields": fields[row["id"]]} for row in found["changed"]],
        "removed": [_entry(row) for row in found["removed"]],
    }


def _changed_fields(before: FrontierCandidate, after: FrontierCandidate) -> list[str]:
    keys = sorted(before.keys() | after.keys())
    return [key for key in keys if before.get(key) != after.get(key)]


def _counts(changes: Iterable[Change]) -> FrontierChanges:
    counts: FrontierChanges = {"added": 0, "changed": 0, "removed": 0, "unchanged": 0}
    for change in changes:
        counts[change] += 1
    return counts


def _grouped(pairs: Iterable[tuple[str, Change]]) -> dict[str, FrontierChanges]:
    groups: dict[str, list[Change]] = {}
    for name, change in pairs:
        groups.setdefault(name, []).append(change)
    return {name: _counts(groups[name]) for name in sorted(groups)}


def _entry(row: FrontierCandidate) -> FrontierDiffEntry:
    return {
        "id": row["id"],
        "title": row["title"],
        "repository": row["source_repository"],
        "kind": row["source_kind"],
    }
