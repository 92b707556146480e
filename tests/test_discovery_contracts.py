"""The seven sources are fixed: the TOML states them, and can add or redirect none."""

import pytest
from discovery_payloads import REPOSITORY_ROOT

from secondbrain.discovery.contracts import FIXED, load_contracts
from secondbrain.errors import ConfigurationError

STATED = (REPOSITORY_ROOT / "frontier" / "sources.toml").read_text(encoding="utf-8")


def test_the_seven_sources_are_the_agreed_ones():
    assert {
        contract.source_id: (contract.repository, contract.path, contract.parser)
        for contract in load_contracts()
    } == {
        "formula_quant_atlas": ("szl-holdings/szl-formulas", "atlas/formula-atlas.v1.json", "formula_atlas"),
        "ouroboros_runtime": ("szl-holdings/szl-ouroboros", "README.md", "markdown"),
        "governed_kernel_suite": ("szl-holdings/szl-kernels", "README.md", "markdown"),
        "living_anatomy": ("szl-holdings/anatomy", "README.md", "markdown"),
        "a11oy_public_estate": ("szl-holdings/a11oy", "governance/public-estate.v1.json", "public_estate"),
        "forge_production_controller": (
            "szl-holdings/szl-forge",
            "inference/production_control_plane.v2.json",
            "control_plane",
        ),
        "nemo_witness": ("szl-holdings/szl-nemo", "README.md", "markdown"),
    }
    assert len(FIXED) == 7


def test_no_readme_sentence_is_kept_by_the_contracts_as_committed():
    assert {contract.excerpt for contract in load_contracts() if contract.parser == "markdown"} == {"none"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("szl-holdings/anatomy", "someone/anatomy"),
        ('path = "README.md"', 'path = "OTHER.md"'),
        ('parser = "control_plane"', 'parser = "markdown"'),
        ('source_id = "nemo_witness"', 'source_id = "another"'),
        ('source_id = "nemo_witness"', 'source_id = "living_anatomy"'),
        ('title = "Nemo Witness"\n', ""),
        ('title = "Nemo Witness"', 'title = ""'),
        ('title = "Nemo Witness"', 'title = "Nemo Witness"\nhost = "example.org"'),
        ('title = "A11oy public estate"', 'title = "A11oy public estate"\nexcerpt = "bounded"'),
        ('excerpt = "none"', 'excerpt = "all"'),
        ("truth_cards = true", 'truth_cards = "yes"'),
        ("[[source]]", "[[other]]"),
        ("[[source]]", "[[source"),
    ],
)
def test_a_changed_contract_is_refused(tmp_path, old, new):
    assert old in STATED
    path = tmp_path / "sources.toml"
    path.write_text(STATED.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"sources\.toml"):
        load_contracts(path)


def test_a_source_left_out_or_added_is_refused(tmp_path):
    path = tmp_path / "sources.toml"
    without_last = STATED[: STATED.rindex("[[source]]")]
    path.write_text(without_last, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="not the seven fixed ones"):
        load_contracts(path)
    path.write_text(STATED + STATED[STATED.rindex("[[source]]") :], encoding="utf-8")
    with pytest.raises(ConfigurationError, match="not the seven fixed ones"):
        load_contracts(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="absent"):
        load_contracts(tmp_path / "absent")


def test_the_owner_may_choose_bounded_excerpts(tmp_path):
    path = tmp_path / "sources.toml"
    path.write_text(STATED.replace('excerpt = "none"', 'excerpt = "bounded"'), encoding="utf-8")
    chosen = {contract.source_id: contract.excerpt for contract in load_contracts(path)}
    assert chosen["living_anatomy"] == "bounded"
