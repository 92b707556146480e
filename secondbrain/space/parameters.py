"""What one parameter or body key may be: declared once, for parsing and for the OpenAPI document.

The rules:

 1. A value is of its type and inside its bounds, or it is refused: never clamped, cut or converted.
 2. In a query string a parameter stands once; a list is its parameter repeated, each value once.
 3. A refusal names the field and what it may be. It never repeats the value.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from secondbrain.digests import is_unicode

_WHOLE = re.compile(r"[1-9][0-9]{0,8}")


class Unfit(Exception):
    """A value outside its declaration; ``field`` is the parameter's name."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(f"{field} {detail}")
        self.field = field


class Parameter(Protocol):
    """A declared parameter."""

    @property
    def name(self) -> str:
        """The name of the argument it becomes, and of the body key."""
        ...

    @property
    def short(self) -> str | None:
        """Another name for it, which earlier versions used."""
        ...

    @property
    def about(self) -> str:
        """What it means, in one sentence."""
        ...

    @property
    def required(self) -> bool:
        """Whether a request must give it."""
        ...

    @property
    def default(self) -> Any:
        """What it is where a request does not give it."""
        ...

    def of_query(self, given: Sequence[str]) -> Any:
        """Return the value of what stands in a query string; Unfit where it is not to be had."""
        ...

    def of_json(self, value: object) -> Any:
        """Return the value of a body key; Unfit where it is not of the declared type."""
        ...

    def schema(self) -> dict[str, Any]:
        """Return its JSON Schema."""
        ...


@dataclass(frozen=True)
class Text:
    """A Unicode text of bounded length."""

    name: str
    about: str
    most: int = 200
    required: bool = False
    short: str | None = None
    default: str | None = None

    def of_query(self, given: Sequence[str]) -> str:
        """Return the text that stands once."""
        return self.of_json(_once(self.name, given))

    def of_json(self, value: object) -> str:
        """Return a text that is Unicode and not too long."""
        if not isinstance(value, str):
            raise Unfit(self.name, "is not a text")
        if len(value) > self.most:
            raise Unfit(self.name, f"is longer than {self.most} characters")
        if not is_unicode(value):
            raise Unfit(self.name, "is not Unicode: it has a lone surrogate")
        return value

    def schema(self) -> dict[str, Any]:
        """Return its JSON Schema."""
        return {"type": "string", "maxLength": self.most}


@dataclass(frozen=True)
class Whole:
    """A whole number from 1 to ``most``."""

    name: str
    about: str
    most: int
    default: int
    required: bool = field(default=False, init=False)
    short: str | None = field(default=None, init=False)

    def of_query(self, given: Sequence[str]) -> int:
        """Return the number whose decimal digits stand once: no sign, blank or leading zero."""
        digits = _once(self.name, given)
        return self.of_json(int(digits) if _WHOLE.fullmatch(digits) else None)

    def of_json(self, value: object) -> int:
        """Return a JSON integer in its range; 6.0 and true are none."""
        if type(value) is not int or not 1 <= value <= self.most:
            raise Unfit(self.name, f"is not a whole number from 1 to {self.most}")
        return value

    def schema(self) -> dict[str, Any]:
        """Return its JSON Schema."""
        return {"type": "integer", "minimum": 1, "maximum": self.most, "default": self.default}


@dataclass(frozen=True)
class Names:
    """One or more names, each once."""

    name: str
    about: str
    most: int = 32
    longest: int = 200
    required: bool = field(default=False, init=False)
    short: str | None = field(default=None, init=False)
    default: None = field(default=None, init=False)

    def of_query(self, given: Sequence[str]) -> list[str]:
        """Return the values of the repeated parameter."""
        return self.of_json(list(given))

    def of_json(self, value: object) -> list[str]:
        """Return a JSON array of names, not empty, none twice."""
        if not isinstance(value, list) or not 1 <= len(value) <= self.most:
            raise Unfit(self.name, f"is not a list of 1 to {self.most} names")
        one = Text(self.name, self.about, self.longest)
        names = [one.of_json(name) for name in value]
        if len(set(names)) != len(names):
            raise Unfit(self.name, "has a name twice")
        return names

    def schema(self) -> dict[str, Any]:
        """Return its JSON Schema."""
        items = {"type": "string", "maxLength": self.longest}
        return {"type": "array", "items": items, "minItems": 1, "maxItems": self.most, "uniqueItems": True}


def _once(name: str, given: Sequence[str]) -> str:
    if len(given) != 1:
        raise Unfit(name, "stands twice")
    return given[0]
