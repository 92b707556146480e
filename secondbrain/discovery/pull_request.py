"""The words of a pull request: what changed, by which digests, with which authority. No discovered text."""

from collections.abc import Iterable

from secondbrain.wire import FrontierRun


def title_of(receipt: FrontierRun) -> str:
    """Return the title of the commit and of its pull request."""
    return f"Frontier memory: review candidate set {str(receipt['candidate_set_sha256'])[:16]}"


def body_of(receipt: FrontierRun) -> str:
    """Return the body: counts, digests, sources at their revisions, authorities."""
    parts = (_purpose(), _changes(receipt), _kinds(receipt), _sources(receipt), _digests(receipt))
    return "\n\n".join((*parts, _authorities(receipt), *_others(receipt))) + "\n"


def _purpose() -> str:
    return (
        "A changed candidate set, for a person to review. Candidates stay `DISCOVERED_REVIEW_REQUIRED`: "
        "merging accepts them as evidence to look at, and proves none of them."
    )


def _changes(receipt: FrontierRun) -> str:
    changes = receipt["changes"]
    rows = [] if changes is None else list(changes.items())
    return _table(("change", "candidates"), rows) + (
        f"\n\nOf the changed, {receipt['revision_only']} differ in their source revision alone. "
        "`secondbrain frontier diff` lists each candidate and field."
    )


def _kinds(receipt: FrontierRun) -> str:
    kinds = receipt["source_kind_counts"]
    return _table(("kind", "candidates"), [(f"`{kind}`", count) for kind, count in kinds.items()])


def _sources(receipt: FrontierRun) -> str:
    rows = [
        (run["source_id"], f"`{run['revision']}`", run["lineage"], f"`{run['content_sha256']}`")
        for run in receipt["sources"]
    ]
    return _table(("source", "revision", "since the set before", "payload SHA-256"), rows)


def _digests(receipt: FrontierRun) -> str:
    rows = (
        ("candidate set", receipt["candidate_set_sha256"]),
        ("candidate set before", receipt["base_candidate_set_sha256"]),
        ("state", receipt["state_sha256"]),
    )
    return _table(("digest", "SHA-256"), [(name, f"`{digest}`") for name, digest in rows])


def _authorities(receipt: FrontierRun) -> str:
    rows = (
        ("training", receipt["training_authority"]),
        ("promotion", receipt["promotion_authority"]),
        ("execution", receipt["execution_authority"]),
        ("merge", receipt["merge_authority"]),
    )
    return _table(("authority", "held"), rows)


def _others(receipt: FrontierRun) -> list[str]:
    numbers = receipt["proposal"]["other_open_proposals"] if receipt["proposal"] else []
    if not numbers:
        return []
    return [f"Open proposals of other sets: {', '.join(f'#{number}' for number in numbers)}."]


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
