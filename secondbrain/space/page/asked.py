"""What a request asks of a page, read strictly from its query string.

A parameter that the page lacks, one given twice, broken encoding or a wrong type is refused with a
sentence for a person: never clamped, cut or ignored.
"""

from collections.abc import Collection
from urllib.parse import parse_qsl

from secondbrain.errors import RetrievalBoundaryError
from secondbrain.retrieval.asking import MAX_K, check_k
from secondbrain.retrieval.query import check_text

DEFAULT_K = 6
_MOST_PARAMETERS = 16


def parameters(query_string: bytes, allowed: Collection[str]) -> dict[str, str]:
    """Return the parameters of a query string, each at most once and each one that is allowed.

    Raises RetrievalBoundaryError that says what to do for anything else.
    """
    try:
        pairs = parse_qsl(
            query_string.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS
        )
    except UnicodeError:
        raise RetrievalBoundaryError("the address holds bytes that are no UTF-8; type the question anew") from None
    except ValueError:
        raise RetrievalBoundaryError(f"the address holds more than {_MOST_PARAMETERS} parameters") from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if name not in allowed:
            raise RetrievalBoundaryError(f"this page takes {_listed(allowed)}, and nothing else")
        if name in found:
            raise RetrievalBoundaryError(f"{name} is given twice; give it once")
        found[name] = value
    return found


def asked_query(found: dict[str, str]) -> str | None:
    """Return the query, or None where the page was opened without one."""
    return check_text(found["q"]) if "q" in found else None


def asked_k(found: dict[str, str]) -> int:
    """Return how many handles are asked for; RetrievalBoundaryError outside 1 to 12."""
    text = found.get("k", str(DEFAULT_K))
    if not (text.isascii() and text.isdigit() and len(text) < 4):
        raise RetrievalBoundaryError(f"k is no whole number from 1 to {MAX_K}")
    return check_k(int(text))


def _listed(names: Collection[str]) -> str:
    return " and ".join(sorted(names)) if names else "no parameters"
