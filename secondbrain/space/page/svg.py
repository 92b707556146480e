"""Geometry of the small pictures: numbers for the templates to draw. No colours, no markup."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

TRACE_WIDTH = 128
TRACE_HEIGHT = 16


@dataclass(frozen=True)
class Bar:
    """One bar of a chart of counts."""

    name: str
    count: int
    length: float
    """In percent of the longest."""


class Segment(NamedTuple):
    """One part of a stacked bar, in percent of its whole."""

    name: str
    start: float
    length: float


def trace(digest: str) -> str:
    """Return a digest as the points of a line, one a hexadecimal digit: the same text, the same line.

    It helps an eye tell handles apart. It proves nothing: compare digests for that.
    """
    step = TRACE_WIDTH / max(1, len(digest) - 1)
    return " ".join(
        f"{_short(at * step)},{_short(TRACE_HEIGHT - 1 - int(digit, 16) * (TRACE_HEIGHT - 2) / 15)}"
        for at, digit in enumerate(digest)
    )


def bars(counts: Mapping[str, int]) -> list[Bar]:
    """Return counts as bars, largest first; ties by name."""
    longest = max(counts.values(), default=1) or 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [Bar(name, count, 100 * count / longest) for name, count in ordered]


def stacked(parts: Sequence[tuple[str, float]], whole: float) -> list[Segment]:
    """Return parts of a whole as the segments of one bar; parts of nothing are left out."""
    found: list[Segment] = []
    start = 0.0
    for name, amount in parts:
        if amount > 0:
            found.append(Segment(name, start, 100 * amount / whole))
            start += 100 * amount / whole
    return found


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
