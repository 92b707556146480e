"""The formula and quant atlas → one authority, 30 attributed and 21 executable formulas, nine domains.

Rules that hold here:

1. The atlas is ``szl.formula-quant-atlas/v1``, its own digest holds, and its counts are exactly those.
2. Its authority says: eight locked-proven formulas, these eight; Lambda
   ``CONJECTURE_1_OPEN_ADVISORY_ONLY``; F-number mapping ``UNKNOWN_NOT_INFERRED``.
3. PROOF_STATUS of an executable, reported status of an attributed record and locked-proven membership
   are three fields that never meet. A record that has a field of another kind is refused.
4. Each attributed record says that its membership is ``UNKNOWN_NOT_INFERRED_FROM_REPORTED_STATUS``.
"""

from collections import Counter
from typing import Any

from secondbrain.digests import canonical_json, sha256_text
from secondbrain.discovery.candidate import candidate, record_content
from secondbrain.discovery.identity import ATTRIBUTED_TITLE, EXECUTABLE_TITLE
from secondbrain.discovery.locked_proven import check_locked_proven
from secondbrain.discovery.payload import Payload
from secondbrain.discovery.shape import equal, line, mapping, parse, sequence
from secondbrain.errors import FrontierIntegrityError
from secondbrain.wire import FrontierCandidate

SCHEMA = "szl.formula-quant-atlas/v1"
COUNTS = {"attributed_formulas": 30, "executable_formulas": 21, "quant_domains": 9}
MEMBERSHIP = "UNKNOWN_NOT_INFERRED_FROM_REPORTED_STATUS"
AUTHORITY_ADMISSION = "REFERENCE_AND_CONSTRAINT_INPUT_ONLY"
EXECUTABLE_ADMISSION = "EXECUTABLE_CONSTRAINT_REVIEW_REQUIRED"

_ATTRIBUTED_KEYS = frozenset(
    {
        "admission",
        "class",
        "id",
        "locked_proven_membership",
        "quant_domain",
        "reported_status",
        "source",
        "statement",
    }
)
_EXECUTABLE_KEYS = frozenset({"name", "proof_status"})
_DOMAIN_KEYS = frozenset({"authority", "formula_count", "id"})


def extract_formula_atlas(payload: Payload) -> list[FrontierCandidate]:
    """Return the 61 rows of the atlas; FrontierIntegrityError if a rule above does not hold."""
    where = payload.contract.source_id
    atlas = mapping(parse(payload.data, where), where)
    equal(atlas.get("schema"), SCHEMA, f"{where}: schema")
    _check_digest(atlas, where)
    attributed, executable, domains = (_numbered(atlas, key, count, where) for key, count in COUNTS.items())
    rows = [_authority(payload, atlas.get("authority"), f"{where}: authority")]
    rows += [_attributed(payload, record, place) for record, place in attributed]
    rows += [_executable(payload, record, place) for record, place in executable]
    per_domain = Counter(record["quant_domain"] for record, _ in attributed)
    rows += [_domain(payload, record, per_domain, place) for record, place in domains]
    if per_domain.keys() - {record["id"] for record, _ in domains}:
        raise FrontierIntegrityError(f"{where}: an attributed formula names a domain that is not listed")
    return rows


def _numbered(atlas: dict[str, Any], key: str, count: int, where: str) -> list[tuple[Any, str]]:
    """Return exactly so many records of a list, each with its place for messages."""
    records = sequence(atlas.get(key), f"{where}: {key}", count)
    return [(record, f"{where}: {key} {number}") for number, record in enumerate(records, 1)]


def _check_digest(atlas: dict[str, Any], where: str) -> None:
    # The atlas signs its canonical JSON without this key, with a newline at the end.
    rest = {key: value for key, value in atlas.items() if key != "payload_sha256"}
    equal(atlas.get("payload_sha256"), sha256_text(canonical_json(rest) + "\n"), f"{where}: payload_sha256")


def _authority(payload: Payload, value: Any, where: str) -> FrontierCandidate:
    authority = mapping(value, where)
    check_locked_proven(authority, where)
    equal(authority.get("lambda_status"), "CONJECTURE_1_OPEN_ADVISORY_ONLY", f"{where}: lambda_status")
    mapping_status = authority.get("f_number_to_executable_registry_mapping")
    equal(mapping_status, "UNKNOWN_NOT_INFERRED", f"{where}: f_number_to_executable_registry_mapping")
    executables = COUNTS["executable_formulas"]
    equal(authority.get("executable_registry_count"), executables, f"{where}: executable_registry_count")
    return candidate(
        payload,
        source_kind="formula-authority",
        stable_key="authority",
        title="Formula authority",
        content=record_content(authority),
        admission=AUTHORITY_ADMISSION,
    )


def _attributed(payload: Payload, value: Any, where: str) -> FrontierCandidate:
    record = mapping(value, where, _ATTRIBUTED_KEYS)
    said = {key: line(record[key], f"{where}: {key}") for key in _ATTRIBUTED_KEYS}
    equal(said["locked_proven_membership"], MEMBERSHIP, f"{where}: locked_proven_membership")
    row = candidate(
        payload,
        source_kind="attributed-formula",
        stable_key="attributed:" + said["id"],
        title=ATTRIBUTED_TITLE + said["id"],
        content="\n".join(
            (
                f"Formula: {said['id']}",
                f"Source attribution: {said['source']}",
                f"Statement: {said['statement']}",
                f"Class: {said['class']}",
                f"Reported status: {said['reported_status']}",
                f"Quant domain: {said['quant_domain']}",
                f"Admission: {said['admission']}",
                f"Locked-proof membership: {said['locked_proven_membership']}",
            )
        ),
        admission=said["admission"],
    )
    row["quant_domain"] = said["quant_domain"]
    row["reported_status"] = said["reported_status"]
    return row


def _executable(payload: Payload, value: Any, where: str) -> FrontierCandidate:
    record = mapping(value, where, _EXECUTABLE_KEYS)
    name, status = (line(record[key], f"{where}: {key}") for key in ("name", "proof_status"))
    row = candidate(
        payload,
        source_kind="executable-formula",
        stable_key="executable:" + name,
        title=EXECUTABLE_TITLE + name,
        content=(
            f"Executable registry name: {name}\n"
            f"Per-obligation proof status: {status}\n"
            "F-number mapping: UNKNOWN_NOT_INFERRED\n"
            "Locked-proof membership: NOT_A_FIELD_OF_EXECUTABLE_FORMULAS"
        ),
        admission=EXECUTABLE_ADMISSION,
    )
    row["proof_status"] = status
    return row


def _domain(payload: Payload, value: Any, per_domain: Counter[str], where: str) -> FrontierCandidate:
    record = mapping(value, where, _DOMAIN_KEYS)
    domain = line(record["id"], f"{where}: id")
    equal(record["formula_count"], per_domain[domain], f"{where}: formula_count")
    row = candidate(
        payload,
        source_kind="quant-domain",
        stable_key="domain:" + domain,
        title="Quant domain · " + domain,
        content=record_content(record),
        admission=line(record["authority"], f"{where}: authority"),
    )
    row["quant_domain"] = domain
    return row
