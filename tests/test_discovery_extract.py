"""The three JSON sources: what their contracts demand, and which rows they give."""

import copy
import json
from collections import Counter

import pytest
from discovery_payloads import (
    ATLAS,
    CONTROLLER,
    ESTATE,
    atlas,
    atlas_bytes,
    control_plane,
    estate,
    payload,
)

from secondbrain.discovery.extract import extract
from secondbrain.errors import FrontierIntegrityError


def kinds(rows):
    return dict(Counter(row["source_kind"] for row in rows))


def changed(document, path, value):
    """Return a copy of a document with the value at a path replaced, or taken away where it is None."""
    document = copy.deepcopy(document)
    *parents, last = path
    place = document
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return document


def test_the_atlas_gives_one_authority_thirty_attributed_twentyone_executable_nine_domains():
    assert kinds(extract(payload(ATLAS))) == {
        "formula-authority": 1,
        "attributed-formula": 30,
        "executable-formula": 21,
        "quant-domain": 9,
    }


def test_the_three_status_fields_never_meet():
    for row in extract(payload(ATLAS)):
        optional = {field for field in ("proof_status", "reported_status", "quant_domain") if field in row}
        assert (
            optional
            == {
                "formula-authority": set(),
                "attributed-formula": {"reported_status", "quant_domain"},
                "executable-formula": {"proof_status"},
                "quant-domain": {"quant_domain"},
            }[row["source_kind"]]
        )


def test_a_reported_status_that_says_locked_makes_nothing_locked():
    row = next(row for row in extract(payload(ATLAS)) if row["title"].endswith("T18-example"))
    assert row["reported_status"] == "PROVEN(F18 locked-8)"
    assert row["content"].endswith("Locked-proof membership: UNKNOWN_NOT_INFERRED_FROM_REPORTED_STATUS")
    assert row["candidate_state"] == "DISCOVERED_REVIEW_REQUIRED"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("schema",), "szl.formula-quant-atlas/v2", "schema"),
        (("attributed_formulas", 0), None, "exactly 30"),
        (("executable_formulas", 0), None, "exactly 21"),
        (("quant_domains", 0), None, "exactly 9"),
        (("attributed_formulas",), {}, "expected an array"),
        (("authority",), [], "expected an object"),
        (("authority", "locked_proven_count"), 9, "locked_proven_count"),
        (("authority", "locked_proven_count"), 8.0, "locked_proven_count"),
        (("authority", "locked_proven_ids", 0), "F23", "locked-proven set"),
        (("authority", "lambda_status"), "PROVEN", "lambda_status"),
        (("authority", "f_number_to_executable_registry_mapping"), "KNOWN", "mapping"),
        (("authority", "executable_registry_count"), 22, "executable_registry_count"),
        (("attributed_formulas", 3, "locked_proven_membership"), "LOCKED_PROVEN", "locked_proven_membership"),
        (("attributed_formulas", 3, "proof_status"), "PROVEN", "has a key that its schema lacks"),
        (("attributed_formulas", 3, "statement"), None, "lacks 'statement'"),
        (("attributed_formulas", 3, "statement"), "x\nReported status: PROVEN", "line end"),
        (("attributed_formulas", 3, "quant_domain"), "domain_10", "formula_count"),
        (("attributed_formulas", 3, "id"), "T4-example", "names one thing twice"),
        (("executable_formulas", 3, "reported_status"), "PROVEN", "has a key that its schema lacks"),
        (("executable_formulas", 3, "locked_proven_membership"), "YES", "has a key that its schema lacks"),
        (("executable_formulas", 3, "name"), "", "expected a text"),
        (("quant_domains", 3, "formula_count"), 7, "formula_count"),
    ],
)
def test_an_atlas_outside_its_contract_is_refused(path, value, said):
    with pytest.raises(FrontierIntegrityError, match=said) as refused:
        extract(payload(ATLAS, atlas_bytes(changed(atlas(), path, value))))
    assert "formula_quant_atlas" in str(refused.value)


def test_an_attributed_formula_of_an_unlisted_domain_is_refused():
    document = atlas()
    document["quant_domains"][0] = {**document["quant_domains"][0], "id": "other", "formula_count": 0}
    with pytest.raises(FrontierIntegrityError, match="not listed"):
        extract(payload(ATLAS, atlas_bytes(document)))


def test_an_atlas_that_fails_its_own_digest_is_refused():
    data = atlas_bytes(atlas()).replace(b"7 = 7", b"7 = 8")
    with pytest.raises(FrontierIntegrityError, match="payload_sha256"):
        extract(payload(ATLAS, data))


def test_the_estate_gives_one_authority_and_one_row_a_surface():
    rows = extract(payload(ESTATE))
    assert kinds(rows) == {"estate-authority": 1, "estate-surface": 3}
    assert [row["title"] for row in rows[1:]] == [
        "Public estate · Fabric",
        "Public estate · One",
        "Public estate · Two",
    ]


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("schema",), "szl.public-estate/v2", "schema"),
        (("platform_count",), 2, "platform_count"),
        (("public_products", 0), None, "public_vertical_product_count"),
        (("public_products", 0, "id"), "two", "names one thing twice"),
        (("public_products", 0, "title"), None, "title"),
        (("estate",), None, "estate"),
    ],
)
def test_an_estate_outside_its_contract_is_refused(path, value, said):
    with pytest.raises(FrontierIntegrityError, match=said):
        extract(payload(ESTATE, json.dumps(changed(estate(), path, value)).encode()))


def test_the_control_plane_gives_its_five_contracts():
    rows = extract(payload(CONTROLLER))
    assert kinds(rows) == {"controller-contract": 5}
    mapped = next(row for row in rows if row["title"] == "Forge controller · formula_authority")
    assert (
        json.loads(mapped["content"])["formula_authority"]["f_id_to_callable_mapping"]
        == "UNKNOWN_NOT_ASSERTED"
    )


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("schema",), "other", "schema"),
        (("authority", "model"), "EXECUTION", "model"),
        (("authority", "second_brain"), "WRITER", "second_brain"),
        (("formula_authority", "locked_proven_count"), 9, "locked_proven_count"),
        (("formula_authority", "locked_proven_ids", 7), "F23", "locked-proven set"),
        (("formula_authority", "f_id_to_callable_mapping"), "KNOWN", "f_id_to_callable_mapping"),
        (("formula_authority", "lambda", "status"), "THEOREM", "lambda status"),
        (("formula_authority", "lambda", "can_authorize"), True, "can_authorize"),
        (("formula_authority", "lambda", "can_authorize"), 0, "can_authorize"),
        (("formula_authority", "lambda", "can_be_sole_allow_basis"), True, "can_be_sole_allow_basis"),
        (("deployment",), None, "deployment"),
        (("truth_labels", 0), 7, "truth_labels"),
        (("remaining_promotion_blockers",), None, "remaining_promotion_blockers"),
    ],
)
def test_a_control_plane_outside_its_contract_is_refused(path, value, said):
    with pytest.raises(FrontierIntegrityError, match=said):
        extract(payload(CONTROLLER, json.dumps(changed(control_plane(), path, value)).encode()))


@pytest.mark.parametrize(
    "data", [b"{", b'{"a":1,"a":2}', b'{"a":NaN}', b"[" * 100_000, b"\xff", b"[]", rb'{"a":"\ud800"}']
)
def test_what_is_not_strict_json_is_refused_without_being_shown(data):
    with pytest.raises(FrontierIntegrityError, match="formula_quant_atlas") as refused:
        extract(payload(ATLAS, data))
    assert len(str(refused.value)) < 120
