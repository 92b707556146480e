"""Forge's production control plane → its contracts, one row each, as Forge states them.

Rules that hold here:

1. The contract is ``szl.forge.production-control-plane/v2``.
2. Its formula authority names the eight locked-proven formulas, leaves the mapping
   ``UNKNOWN_NOT_ASSERTED``, and gives Lambda, ``CONJECTURE_1_ADVISORY``, no authority.
3. Its authority map keeps the model ``PROPOSAL_ONLY`` and this library ``READ_ONLY_EVIDENCE``.
"""

from typing import Any

from secondbrain.discovery.candidate import candidate, record_content
from secondbrain.discovery.identity import CONTRACT_TITLE
from secondbrain.discovery.locked_proven import check_locked_proven
from secondbrain.discovery.payload import Payload
from secondbrain.discovery.shape import equal, line, mapping, parse, sequence
from secondbrain.wire import FrontierCandidate

SCHEMA = "szl.forge.production-control-plane/v2"
ADMISSION = "REFERENCE_ONLY_NO_EXECUTION_AUTHORITY"
CONTRACTS = ("authority", "formula_authority", "truth_labels", "deployment", "remaining_promotion_blockers")


def extract_control_plane(payload: Payload) -> list[FrontierCandidate]:
    """Return the five rows of the contract; FrontierIntegrityError if a rule above does not hold."""
    where = payload.contract.source_id
    plane = mapping(parse(payload.data, where), where)
    equal(plane.get("schema"), SCHEMA, f"{where}: schema")
    _check_authority(mapping(plane.get("authority"), f"{where}: authority"), f"{where}: authority")
    _check_formulas(mapping(plane.get("formula_authority"), f"{where}: formula_authority"), where)
    mapping(plane.get("deployment"), f"{where}: deployment")
    for key in ("truth_labels", "remaining_promotion_blockers"):
        for label in sequence(plane.get(key), f"{where}: {key}"):
            line(label, f"{where}: {key}")
    return [
        candidate(
            payload,
            source_kind="controller-contract",
            stable_key=f"contract:{key}",
            title=CONTRACT_TITLE + key,
            content=record_content({key: plane[key]}),
            admission=ADMISSION,
        )
        for key in CONTRACTS
    ]


def _check_authority(authority: dict[str, Any], where: str) -> None:
    equal(authority.get("model"), "PROPOSAL_ONLY", f"{where}: model")
    equal(authority.get("second_brain"), "READ_ONLY_EVIDENCE", f"{where}: second_brain")


def _check_formulas(authority: dict[str, Any], where: str) -> None:
    where = f"{where}: formula_authority"
    check_locked_proven(authority, where)
    mapping_status = authority.get("f_id_to_callable_mapping")
    equal(mapping_status, "UNKNOWN_NOT_ASSERTED", f"{where}: f_id_to_callable_mapping")
    status = mapping(authority.get("lambda"), f"{where}: lambda")
    equal(status.get("status"), "CONJECTURE_1_ADVISORY", f"{where}: lambda status")
    equal(status.get("can_authorize"), False, f"{where}: lambda can_authorize")
    equal(status.get("can_be_sole_allow_basis"), False, f"{where}: lambda can_be_sole_allow_basis")
