"""A bar chart as an SVG file: groups of bars, one colour for each policy."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

COLOURS = ("#2b6cb0", "#dd6b20", "#718096", "#38a169", "#b83280", "#d69e2e")
BAR, GAP, HEIGHT, LEFT, TOP = 18, 34, 240, 60, 60


def write_chart(file: Path, title: str, groups: Mapping[str, Mapping[str, float]]) -> None:
    """Each group is a place on the axis, with a value for each policy; 1 is the lower bound."""
    names = list(dict.fromkeys(name for bars in groups.values() for name in bars))
    most = max(value for bars in groups.values() for value in bars.values())
    width = LEFT + len(groups) * (len(names) * BAR + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + 60}"',
        ' font-family="sans-serif" font-size="11">',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
        *_legend(names),
        *_axis(width, most),
    ]
    for at, (group, bars) in enumerate(groups.items()):
        parts += _bars(LEFT + at * (len(names) * BAR + GAP), group, bars, (names, most))
    file.write_text("\n".join([*parts, "</svg>", ""]))


def _legend(names: Sequence[str]) -> list[str]:
    return [
        f'<rect x="{LEFT + 130 * at}" y="32" width="10" height="10" fill="{COLOURS[at % len(COLOURS)]}"/>'
        f'<text x="{LEFT + 130 * at + 14}" y="41">{escape(name)}</text>'
        for at, name in enumerate(names)
    ]


def _axis(width: int, most: float) -> list[str]:
    ticks = [0.5 * step for step in range(int(most / 0.5) + 1)]
    return [
        f'<line x1="{LEFT - 6}" x2="{width}" y1="{_y(tick, most):.1f}" y2="{_y(tick, most):.1f}"'
        f' stroke="{"#333" if tick == 1 else "#ddd"}"/>'
        f'<text x="{LEFT - 10}" y="{_y(tick, most) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        for tick in ticks
    ]


def _bars(left: int, group: str, bars: Mapping[str, float], scale: tuple[Sequence[str], float]) -> list[str]:
    names, most = scale
    drawn = [f'<text x="{left}" y="{TOP + HEIGHT + 18}">{escape(group)}</text>']
    for at, name in enumerate(names):
        if name in bars:
            top = _y(bars[name], most)
            size = f'width="{BAR - 3}" height="{TOP + HEIGHT - top:.1f}" fill="{COLOURS[at % len(COLOURS)]}"'
            note = f"<title>{escape(name)}: {bars[name]:.3f}</title>"
            drawn.append(f'<rect x="{left + at * BAR}" y="{top:.1f}" {size}>{note}</rect>')
    return drawn


def _y(value: float, most: float) -> float:
    return TOP + HEIGHT * (1 - value / most)
