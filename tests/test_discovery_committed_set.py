"""The set in ``frontier/`` is whole, and is what it should be by count."""

import json
from collections import Counter

from discovery_payloads import REPOSITORY_ROOT

from secondbrain.discovery.state import read_set
from secondbrain.wire import LOCKED_PROVEN

ROWS, STATE = read_set(REPOSITORY_ROOT / "frontier")


def test_the_kinds_are_there_by_count():
    assert STATE["source_kind_counts"] == {
        "attributed-formula": 30,
        "controller-contract": 5,
        "estate-authority": 1,
        "estate-surface": 7,
        "executable-formula": 21,
        "formula-authority": 1,
        "quant-domain": 9,
        "source-document": 46,
        "truth-card": 4,
    }
    assert len(STATE["quant_domain_counts"]) == 9
    assert STATE["source_count"] == 7


def test_every_row_awaits_review_and_is_for_controllers():
    assert {row["candidate_state"] for row in ROWS} == {"DISCOVERED_REVIEW_REQUIRED"}
    assert {row["content_access"] for row in ROWS} == {"CONTROLLER_ONLY"}


def test_locked_proven_stands_in_the_authority_rows_alone():
    authorities = [row for row in ROWS if "locked_proven_ids" in row["content"]]
    assert Counter(row["source_kind"] for row in authorities) == {
        "formula-authority": 1,
        "controller-contract": 1,
    }
    (authority,) = (row for row in authorities if row["source_kind"] == "formula-authority")
    assert set(json.loads(authority["content"])["locked_proven_ids"]) == set(LOCKED_PROVEN)


def test_a_status_string_that_mentions_the_locked_eight_stays_a_string():
    (row,) = (row for row in ROWS if row["title"] == "Attributed formula · F18-reed-solomon-singleton")
    assert row["reported_status"] == "PROVEN(F18 locked-8)"
    assert "UNKNOWN_NOT_INFERRED_FROM_REPORTED_STATUS" in row["content"]


def test_the_mapping_is_kept_as_each_source_says_it():
    said = {
        row["source_kind"]: status
        for row in ROWS
        for status in ("UNKNOWN_NOT_ASSERTED", "UNKNOWN_NOT_INFERRED")
        if f'"{status}"' in row["content"]
    }
    assert said == {
        "formula-authority": "UNKNOWN_NOT_INFERRED",
        "controller-contract": "UNKNOWN_NOT_ASSERTED",
    }
