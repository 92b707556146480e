"""JSON without surprises: a key stands once in an object, and every number is one.

Python's reader keeps the last of two equal keys, takes NaN, and makes 1e999 infinite. Digests and checks
of what it gives then speak of something that the bytes do not say.
"""

import json
import math
from typing import Any, NoReturn

_SHOWN = 60


class NotStrict(ValueError):
    """Why a text is no strict JSON; the reason repeats a key or a number's name, never a value."""

    def __init__(self, reason: str, key: str | None = None) -> None:
        super().__init__(reason)
        self.key = key
        """The key that stands twice, where that is the reason."""


def parse(source: str) -> Any:
    """Return the one value of a JSON text.

    Raises NotStrict. Lone surrogates behind escapes pass: whoever digests or writes the value asks
    ``digests.is_unicode``.
    """
    reason: NotStrict
    try:
        return _DECODER.decode(source)
    except json.JSONDecodeError as error:
        reason = NotStrict(f"not one JSON value: {error.msg} at column {error.colno}")
    except RecursionError:
        reason = NotStrict("nested too deep")
    except NotStrict as error:
        reason = NotStrict(str(error), error.key)
    except ValueError:  # an integer beyond Python's limit of digits
        reason = NotStrict("a number is too long")
    raise reason  # outside the handler: Python's own error holds the whole text


def shown(name: str) -> str:
    """Return a key as a message shows it: it may be as long as its document, a message may not."""
    return repr(name if len(name) <= _SHOWN else name[:_SHOWN] + "…")


def _keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise NotStrict(f"key {shown(name)} stands twice", name)
            seen.add(name)
    return value


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise NotStrict("a number is too large")
    return value


def _no_number(name: str) -> NoReturn:
    raise NotStrict(f"{name} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_keys_once, parse_constant=_no_number, parse_float=_finite)
