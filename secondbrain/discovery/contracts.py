"""Which sources are read: seven, fixed.

Rules that hold here:

1. The seven sources are constants of the program: id, repository, path and parser.
2. ``frontier/sources.toml`` states the same seven and may choose only titles and excerpts.
   One that names another source, leaves one out or redirects one is refused.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from secondbrain.errors import ConfigurationError
from secondbrain.resources import frontier_folder

Parser = Literal["formula_atlas", "markdown", "public_estate", "control_plane"]
Excerpt = Literal["none", "bounded"]

FIXED: dict[str, tuple[str, str, Parser]] = {
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
"""Source id → repository, path and parser. Stated here too, so that the TOML alone can add nothing."""

SOURCE_KINDS: dict[Parser, frozenset[str]] = {
    "formula_atlas": frozenset(
        {"formula-authority", "attributed-formula", "executable-formula", "quant-domain"}
    ),
    "markdown": frozenset({"source-document", "truth-card"}),
    "public_estate": frozenset({"estate-authority", "estate-surface"}),
    "control_plane": frozenset({"controller-contract"}),
}
"""Parser → the kinds of rows that it may give."""

_FIXED_KEYS = {"source_id", "repository", "path", "parser", "title"}
_MARKDOWN_KEYS = {"excerpt", "truth_cards"}


@dataclass(frozen=True)
class SourceContract:
    """One source: where it lies, who parses it, and how much of its text may be kept."""

    source_id: str
    repository: str
    path: str
    parser: Parser
    title: str
    excerpt: Excerpt = "none"
    truth_cards: bool = False


def load_contracts(path: Path | None = None) -> tuple[SourceContract, ...]:
    """Return the seven contracts as ``sources.toml`` states them, in its order.

    ``path`` is another copy of that file, held to the same rules. Raises ConfigurationError that names
    the file and the source at fault.
    """
    path = frontier_folder() / "sources.toml" if path is None else path
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{path}: not a readable TOML file ({type(error).__name__}): restore it from the repository"
        ) from error
    entries = document.get("source")
    if set(document) != {"source"} or not isinstance(entries, list):
        raise ConfigurationError(f"{path}: expected [[source]] tables and nothing else")
    contracts = tuple(_contract(entry, f"{path}: source {number}") for number, entry in enumerate(entries, 1))
    named = [contract.source_id for contract in contracts]
    if sorted(named) != sorted(FIXED):
        raise ConfigurationError(f"{path}: names {len(named)} sources, not the seven fixed ones, each once")
    return contracts


def _contract(entry: Any, where: str) -> SourceContract:
    if not isinstance(entry, dict) or not entry.keys() >= _FIXED_KEYS:
        raise ConfigurationError(f"{where}: needs {', '.join(sorted(_FIXED_KEYS))}")
    source_id, parser = entry["source_id"], entry["parser"]
    if FIXED.get(source_id) != (entry["repository"], entry["path"], parser):
        raise ConfigurationError(
            f"{where}: not one of the seven fixed sources; repository, path and parser cannot be changed here"
        )
    allowed = _FIXED_KEYS | (_MARKDOWN_KEYS if parser == "markdown" else set())
    if not entry.keys() <= allowed:
        raise ConfigurationError(f"{where} ({source_id}): unknown key {sorted(entry.keys() - allowed)[0]!r}")
    title = entry["title"]
    if not isinstance(title, str) or not title.strip() or "\n" in title:
        raise ConfigurationError(f"{where} ({source_id}): title must be one line of text")
    excerpt, truth_cards = entry.get("excerpt", "none"), entry.get("truth_cards", False)
    if excerpt not in ("none", "bounded"):
        raise ConfigurationError(f'{where} ({source_id}): excerpt is "none" or "bounded"')
    if not isinstance(truth_cards, bool):
        raise ConfigurationError(f"{where} ({source_id}): truth_cards is true or false")
    return SourceContract(
        source_id, entry["repository"], entry["path"], parser, title, cast(Excerpt, excerpt), truth_cards
    )
