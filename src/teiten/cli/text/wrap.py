"""Lines of a given width, for English and Japanese: rich breaks lines at blanks only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

NO_LINE_START = (
    "、。，．・：；！？）」』】〉》ー％%)]},.!?:;々ゝゞヽヾ"
    "ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ"
)
"""Kinsoku: these stay with the character before them (JIS X 4051)."""
NO_LINE_END = "（「『【〈《([{"
"""These stay with the character after them."""
WIDE = r"\u3000-\u30ff\u3400-\u9fff\uff00-\uffef"
UNITS = re.compile(rf"\s+|[{WIDE}]|[^\s{WIDE}]+")


def wrap(text: str, width: int) -> list[str]:
    """``text`` in lines of at most ``width`` terminal cells; only a longer word exceeds it."""
    lines = [""]
    for unit in _units(text):
        if cell_len(lines[-1] + unit.rstrip()) > width and lines[-1]:
            lines[-1] = lines[-1].rstrip()
            lines.append(unit.lstrip())
        else:
            lines[-1] += unit
    return lines


def longest(text: str) -> int:
    """Count the terminal cells of the longest part that stays whole."""
    return max((cell_len(unit.strip()) for unit in _units(text)), default=0)


def _units(text: str) -> Iterator[str]:
    """Find what must stay whole: words, and wide characters with the marks that cling to them."""
    unit = ""
    for part in UNITS.findall(text):
        clings = part.isspace() or part[0] in NO_LINE_START or unit[-1:] in tuple(NO_LINE_END)
        if unit and not clings:
            yield unit
            unit = ""
        unit += part
    if unit:
        yield unit
