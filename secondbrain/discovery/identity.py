"""The id of a candidate: which thing of which source it is, whatever its revision.

Rules that hold here:

1. An id is ``frontier:`` and the first 32 hexadecimal digits of the SHA-256 over repository, path,
   source kind and stable key, joined by NUL. It survives a new revision of the source.
2. A stable key names the thing, never its place, so that an insertion before it changes nothing.
3. A row says enough to compute its key again: a reader can check every id.

Stable keys: ``authority`` · ``attributed:ID`` · ``executable:NAME`` · ``domain:ID`` ·
``estate-authority`` · ``platforms:ID`` · ``public_products:ID`` · ``contract:KEY`` ·
``section:PATH:OCCURRENCE`` · ``truth-card:PATH:OCCURRENCE:ROW:OCCURRENCE``, where PATH is the headings
from the top as a JSON array and ROW the first cell as a JSON string. Earlier published sets used
``section:NUMBER:HEADING`` for sections, which an insertion shifts: those ids differ from these.
"""

import hashlib
from collections.abc import Callable

from secondbrain.discovery.shape import mapping, parse, text
from secondbrain.wire import FrontierCandidate

ATTRIBUTED_TITLE = "Attributed formula · "
EXECUTABLE_TITLE = "Executable formula · "
CONTRACT_TITLE = "Forge controller · "


def candidate_id(repository: str, path: str, source_kind: str, stable_key: str) -> str:
    """Return the id of the thing that a stable key names in a source (rule 1)."""
    named = "\0".join((repository, path, source_kind, stable_key))
    return "frontier:" + hashlib.sha256(named.encode("utf-8")).hexdigest()[:32]


def section_key(path: str, occurrence: str) -> str:
    """Return the stable key of a README section; ``path`` is the JSON array of its headings."""
    return f"section:{path}:{occurrence}"


def truth_card_key(path: str, occurrence: str, row: str, row_occurrence: str) -> str:
    """Return the stable key of a truth-card row; ``row`` is the JSON string of its first cell."""
    return f"truth-card:{path}:{occurrence}:{row}:{row_occurrence}"


def ids_of(row: FrontierCandidate) -> set[str]:
    """Return the ids that a row can have by what it says (rule 3); empty for an unknown kind."""
    keys_of = _KEYS.get(row["source_kind"])
    keys = keys_of(row) if keys_of is not None else ()
    return {
        candidate_id(row["source_repository"], row["source_path"], row["source_kind"], key) for key in keys
    }


def _surface_keys(row: FrontierCandidate) -> tuple[str, ...]:
    surface = text(mapping(parse(row["content"], "content"), "content").get("id"), "content: id")
    return (f"platforms:{surface}", f"public_products:{surface}")


def _labelled(row: FrontierCandidate) -> dict[str, str]:
    lines = row["content"].split("\n")
    return dict(line.split(": ", 1) for line in lines[:4] if ": " in line)


def _section_keys(row: FrontierCandidate) -> tuple[str, ...]:
    said = _labelled(row)
    return (section_key(said.get("Heading path", ""), said.get("Occurrence", "")),)


def _truth_card_keys(row: FrontierCandidate) -> tuple[str, ...]:
    said = _labelled(row)
    names = ("Heading path", "Occurrence", "Row", "Row occurrence")
    return (truth_card_key(*(said.get(name, "") for name in names)),)


_KEYS: dict[str, Callable[[FrontierCandidate], tuple[str, ...]]] = {
    "formula-authority": lambda row: ("authority",),
    "attributed-formula": lambda row: ("attributed:" + row["title"].removeprefix(ATTRIBUTED_TITLE),),
    "executable-formula": lambda row: ("executable:" + row["title"].removeprefix(EXECUTABLE_TITLE),),
    "quant-domain": lambda row: ("domain:" + row.get("quant_domain", ""),),
    "estate-authority": lambda row: ("estate-authority",),
    "estate-surface": _surface_keys,
    "controller-contract": lambda row: ("contract:" + row["title"].removeprefix(CONTRACT_TITLE),),
    "source-document": _section_keys,
    "truth-card": _truth_card_keys,
}
