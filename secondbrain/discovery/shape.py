"""The shape of strict JSON: every value of the type and length that was asked for.

Messages name the place, never the value: a payload's text stays out of errors.
"""

import re
from typing import Any

from secondbrain import strict_json
from secondbrain.digests import canonical_json
from secondbrain.errors import FrontierIntegrityError

UNFIT_FOR_A_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Control characters, line ends, and marks that turn the direction of what a reviewer sees."""


def parse(data: bytes | str, where: str) -> Any:
    """Return the value of a JSON document; FrontierIntegrityError naming ``where`` if it is not strict."""
    try:
        value = strict_json.parse(data.decode("utf-8") if isinstance(data, bytes) else data)
        # A lone surrogate can hide behind an escape; it could never be digested or written.
        canonical_json(value).encode("utf-8")
    except ValueError as error:
        reason = str(error) if isinstance(error, strict_json.NotStrict) else type(error).__name__
        raise FrontierIntegrityError(f"{where}: not UTF-8 JSON ({reason})") from None
    return value


def mapping(value: Any, where: str, keys: frozenset[str] | None = None) -> dict[str, Any]:
    """Return an object, with exactly the given keys if they are given."""
    if not isinstance(value, dict):
        raise FrontierIntegrityError(f"{where}: expected an object")
    if keys is not None and value.keys() != keys:
        missing = sorted(keys - value.keys())
        raise FrontierIntegrityError(
            f"{where}: lacks {missing[0]!r}" if missing else f"{where}: has a key that its schema lacks"
        )
    return value


def sequence(value: Any, where: str, length: int | None = None) -> list[Any]:
    """Return an array, of exactly the given length if it is given."""
    if not isinstance(value, list):
        raise FrontierIntegrityError(f"{where}: expected an array")
    if length is not None and len(value) != length:
        raise FrontierIntegrityError(f"{where}: expected exactly {length} entries, found {len(value)}")
    return value


def text(value: Any, where: str) -> str:
    """Return a string that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise FrontierIntegrityError(f"{where}: expected a text")
    return value


def line(value: Any, where: str) -> str:
    """Return a text that stays on one line, so that no value can pass for a line of its own."""
    if UNFIT_FOR_A_LINE.search(text(value, where)):
        raise FrontierIntegrityError(f"{where}: has a line end, control or direction character")
    return str(value)


def equal(value: Any, expected: Any, where: str) -> None:
    """Refuse a value that is not exactly the expected one, type included."""
    if type(value) is not type(expected) or value != expected:
        raise FrontierIntegrityError(f"{where}: expected {expected!r}")
