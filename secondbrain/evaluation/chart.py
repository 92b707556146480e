"""A chart of per-query results: SVG for a file, one line of bars for a terminal."""

from collections.abc import Mapping
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT, _MARGIN = 720, 220, 36
_BARS = "▁▂▃▄▅▆▇█"


def svg(per_query: Mapping[str, float], title: str) -> str:
    """Return an SVG picture of nDCG@10 by query, from the worst to the best."""
    values = sorted(per_query.values())
    step = (_WIDTH - 2 * _MARGIN) / len(values)
    base, height = _HEIGHT - _MARGIN, _HEIGHT - 2 * _MARGIN
    bars = "".join(
        f'<rect x="{_MARGIN + at * step:.2f}" y="{base - value * height:.2f}" width="{step:.2f}" '
        f'height="{value * height:.2f}"/>'
        for at, value in enumerate(values)
    )
    mean = sum(values) / len(values)
    level = base - mean * height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        f'font-size="12"><title>{escape(title)}</title>'
        f'<text x="{_MARGIN}" y="20">{escape(title)} · nDCG@10 by query, worst to best · mean {mean:.3f}'
        "</text>"
        f'<g fill="#3b6ea5">{bars}</g>'
        f'<path d="M{_MARGIN} {base}H{_WIDTH - _MARGIN}M{_MARGIN} {_MARGIN}V{base}" stroke="#555"/>'
        f'<path d="M{_MARGIN} {level:.2f}H{_WIDTH - _MARGIN}" stroke="#b3541e" stroke-dasharray="4 3"/>'
        f'<text x="8" y="{_MARGIN + 4}">1</text><text x="8" y="{base}">0</text>'
        f'<text x="{_MARGIN}" y="{_HEIGHT - 12}">{len(values)} queries</text></svg>\n'
    )


def bars(per_query: Mapping[str, float], width: int = 60) -> str:
    """Return one line of bars: nDCG@10 from the worst to the best query, each bar a mean of neighbours."""
    values = sorted(per_query.values())
    count = min(width, len(values))
    groups = [values[at * len(values) // count : (at + 1) * len(values) // count] for at in range(count)]
    return "".join(_BARS[round(sum(group) / len(group) * (len(_BARS) - 1))] for group in groups)
