"""Admission answers each case of the shared material as it says."""

import base64
from pathlib import Path

import pytest
from conftest import SHARED, json_lines, shared

from secondbrain import errors
from secondbrain.projection.admission import admit

_FILE = ("cases", "projections.jsonl")
CASES = json_lines(SHARED.joinpath(*_FILE)) if SHARED.joinpath(*_FILE).exists() else []


def test_the_cases_are_there() -> None:
    assert len(json_lines(shared(*_FILE))) == len(CASES) >= 18


@pytest.mark.parametrize("case", CASES, ids=[str(case["case"]) for case in CASES])
def test_a_projection_is_admitted_or_refused_as_the_case_says(tmp_path: Path, case: dict[str, str]) -> None:
    path = tmp_path / "projection.jsonl"
    if "raw_base64" in case:
        path.write_bytes(base64.b64decode(case["raw_base64"]))
    else:
        path.write_bytes((case["raw"] if "raw" in case else case["line"] + "\n").encode("utf-8"))
    if "error" not in case:
        rows, admitted = admit(path)
        assert len(rows) == admitted.rows == 1
        return
    with pytest.raises(getattr(errors, case["error"])) as refusal:
        admit(path)
    assert case["says"] in str(refusal.value)
    assert str(path) in str(refusal.value)
