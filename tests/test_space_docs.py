"""The page on the service names every route, parameter, kind of problem and setting of it."""

import re

from conftest import ROOT

from secondbrain.settings import PREFIX, setting_fields
from secondbrain.space.operations import OPERATIONS
from secondbrain.space.problems import KINDS

PAGE = (ROOT / "docs" / "space.md").read_text(encoding="utf-8")


def test_every_route_and_parameter_is_documented() -> None:
    for operation in OPERATIONS:
        assert re.search(rf"[` ]{re.escape(operation.path)}`", PAGE), operation.path
        for parameter in operation.parameters:
            assert f"`{parameter.name}`" in PAGE


def test_every_problem_is_documented_with_its_status() -> None:
    for kind in KINDS:
        assert f"| {kind.status} | `{kind.type}` |" in PAGE


def test_every_setting_that_is_named_exists() -> None:
    known = {PREFIX + setting.name.upper() for setting in setting_fields()}
    assert set(re.findall(rf"{PREFIX}[A-Z_]+", PAGE)) <= known
