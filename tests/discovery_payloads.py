"""Seven small payloads that keep the contracts of the seven sources, in words of our own.

The real payloads are other people's text; tests that need them look for them beside the repository and
are skipped where they are absent.
"""

import json
from pathlib import Path

import pytest

from secondbrain.digests import canonical_json, sha256_bytes, sha256_text
from secondbrain.discovery.contracts import SourceContract, load_contracts
from secondbrain.discovery.payload import Payload
from secondbrain.wire import LOCKED_PROVEN

REPOSITORY_ROOT = Path(__file__).resolve().parent.parent
UPSTREAM = REPOSITORY_ROOT.parent / "shared" / "upstream" / "upstream.tar.gz"
REVISION = "1" * 40

CONTRACTS = {contract.source_id: contract for contract in load_contracts()}
ATLAS, KERNELS = "formula_quant_atlas", "governed_kernel_suite"
ESTATE, CONTROLLER, ANATOMY = "a11oy_public_estate", "forge_production_controller", "living_anatomy"


def contract(source_id: str, **changes: object) -> SourceContract:
    """Return a contract, with some of its choices changed."""
    return SourceContract(**{**vars(CONTRACTS[source_id]), **changes})


def payload(
    source_id: str, data: bytes | None = None, revision: str = REVISION, **changes: object
) -> Payload:
    """Return the payload of a source at a revision."""
    return Payload(contract(source_id, **changes), revision, data or payloads()[source_id], "NOT_CHECKED")


def payloads() -> dict[str, bytes]:
    """Return a valid payload of each source."""
    return {
        ATLAS: atlas_bytes(atlas()),
        "ouroboros_runtime": b"# Ouroboros\n\nA loop with a bound.\n\n## Load\n\nRead it first.\n",
        KERNELS: KERNEL_README.encode(),
        ANATOMY: b"---\ntitle: Anatomy\n---\n\n# Anatomy\n\nA picture of organs.\n",
        ESTATE: json.dumps(estate(), indent=2).encode(),
        CONTROLLER: json.dumps(control_plane(), indent=2).encode(),
        "nemo_witness": b"# Nemo\n\nIt watches, see [the code](https://example.org/nemo).\n",
    }


KERNEL_README = """# Kernels

## Artifact truth card

| Lane | Evidence |
|---|---|
| Weights | none at all |
| Software | tests that ran |

## Compatibility

| Lane | Evidence |
|---|---|
| Ordinary | table |
"""


def atlas() -> dict:
    """Return an atlas of 30 attributed and 21 executable formulas in nine domains."""
    domains = [f"domain_{number}" for number in range(9)]
    attributed = [
        {
            "admission": "REFERENCE_ONLY",
            "class": "SYMBOLIC",
            "id": f"T{number}-example",
            "locked_proven_membership": "UNKNOWN_NOT_INFERRED_FROM_REPORTED_STATUS",
            "quant_domain": domains[number % 9],
            "reported_status": f"PROVEN(F{number} locked-8)",
            "source": f"note {number}",
            "statement": f"{number} = {number}",
        }
        for number in range(30)
    ]
    counts = {domain: sum(record["quant_domain"] == domain for record in attributed) for domain in domains}
    return {
        "schema": "szl.formula-quant-atlas/v1",
        "authority": {
            "executable_registry_count": 21,
            "f_number_to_executable_registry_mapping": "UNKNOWN_NOT_INFERRED",
            "lambda_status": "CONJECTURE_1_OPEN_ADVISORY_ONLY",
            "locked_proven_count": 8,
            "locked_proven_ids": sorted(LOCKED_PROVEN),
        },
        "attributed_formulas": attributed,
        "executable_formulas": [
            {"name": f"function_{number}", "proof_status": "SORRY(example)"} for number in range(21)
        ],
        "quant_domains": [
            {
                "authority": "REFERENCE_AND_CONSTRAINT_INPUT_ONLY",
                "formula_count": counts[domain],
                "id": domain,
            }
            for domain in domains
        ],
    }


def atlas_bytes(atlas: dict) -> bytes:
    """Return an atlas as its source publishes it: with its own digest."""
    rest = {key: value for key, value in atlas.items() if key != "payload_sha256"}
    return json.dumps({**rest, "payload_sha256": sha256_text(canonical_json(rest) + "\n")}, indent=2).encode()


def estate() -> dict:
    """Return an estate of one platform and two products."""
    surfaces = [{"id": name, "title": name.title(), "public": True} for name in ("fabric", "one", "two")]
    return {
        "schema": "szl.public-estate/v1",
        "estate": "Example estate",
        "truth_policy": "exact-source-or-unverified",
        "platform_count": 1,
        "public_vertical_product_count": 2,
        "platforms": surfaces[:1],
        "public_products": surfaces[1:],
    }


def control_plane() -> dict:
    """Return a control plane that gives nothing more authority than it has."""
    return {
        "schema": "szl.forge.production-control-plane/v2",
        "sources": {"second_brain": {"commit": "46cfa948367e8133eaa8dd6bcfb781b19165b9bb"}},
        "authority": {"model": "PROPOSAL_ONLY", "second_brain": "READ_ONLY_EVIDENCE"},
        "formula_authority": {
            "locked_proven_count": 8,
            "locked_proven_ids": list(LOCKED_PROVEN),
            "f_id_to_callable_mapping": "UNKNOWN_NOT_ASSERTED",
            "lambda": {
                "status": "CONJECTURE_1_ADVISORY",
                "can_authorize": False,
                "can_be_sole_allow_basis": False,
            },
        },
        "truth_labels": ["MEASURED", "UNKNOWN"],
        "deployment": {"tool_execution": "EXTERNAL_A11OY_ONLY"},
        "remaining_promotion_blockers": ["NO_EVIDENCE"],
    }


def write_folder(folder: Path, changed: dict[str, bytes] | None = None, revision: str = REVISION) -> Path:
    """Write payloads as ``refresh --from`` reads them, some of them changed; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for source_id, data in {**payloads(), **(changed or {})}.items():
        (folder / f"{source_id}.payload").write_bytes(data)
        listed.append(
            {
                "source_id": source_id,
                "repository": CONTRACTS[source_id].repository,
                "revision": revision,
                "path": CONTRACTS[source_id].path,
                "bytes": len(data),
                "sha256": sha256_bytes(data),
            }
        )
    (folder / "sources.json").write_text(json.dumps(listed), encoding="utf-8")
    return folder


def upstream_folder(folder: Path) -> Path:
    """Unpack the real published material, or skip the test where it is absent."""
    if not UPSTREAM.is_file():
        pytest.skip(f"the published material is not here: {UPSTREAM}")
    import tarfile

    with tarfile.open(UPSTREAM) as archive:
        archive.extractall(folder, filter="data")
    return folder
