"""Plain text for a terminal or a pipe: columns, paragraphs, lines of a given width.

Japanese characters count two columns, and lines break between them too; rich breaks at blanks only.
Texts of others (titles of studies, names in ledgers, what servers say) lose what steers a terminal.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TextIO

from rich.cells import cell_len

from teiten.model.text import Language

WIDTH = 92


def padded(cell: str, width: int, *, right: bool) -> str:
    """A cell of a column: numbers end, words begin, where their column does."""
    space = " " * (width - cell_len(cell))
    return space + cell if right else cell + space


def columns(rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """Rows as lines with aligned columns. ``right``: the columns that are aligned right."""
    table = tuple(rows)
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            padded(cell, width, right=at in right)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def paragraph(text: str, *, indent: str = "") -> list[str]:
    """A text as lines of at most WIDTH cells, or those of a narrower terminal. Only a longer word,
    as a path is, goes beyond."""
    width = min(WIDTH, room(sys.stdout) or WIDTH)
    return [indent + line for line in wrap(" ".join(text.split()), width - len(indent)) if line]


def bullets(texts: Iterable[str]) -> list[str]:
    """Each text as a list entry."""
    lines = []
    for text in texts:
        first, *rest = paragraph(text, indent="    ") or ["    "]
        lines += [f"  - {first[4:]}", *rest]
    return lines


def aside(language: Language, *texts: str) -> str:
    """Put something in brackets behind other words; several texts with semicolons between them."""
    return f"（{'；'.join(texts)}）" if language == "ja" else f" ({'; '.join(texts)})"


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


_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
"""They turn the order of what follows around."""
_ESCAPES = {
    number: f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
    for number in (*_CONTROLS, *_DIRECTIONS)
    if chr(number) not in "\n\t"
}


def plain(text: str) -> str:
    """The text with its control characters written out, so that they do nothing to a terminal."""
    return text.replace("\r\n", "\n").translate(_ESCAPES)


GAP = re.compile(r"\S( {2,})(?=\S)")
"""Between two columns of a line."""
NARROWEST = 24
"""Cells that are left to a text beside its column; with fewer it goes on below the line."""


def room(stream: TextIO) -> int | None:
    """The columns of the terminal behind a stream; None where there is none, as in a pipe."""
    with suppress(OSError, ValueError):
        if stream.isatty():
            return os.get_terminal_size(stream.fileno()).columns or None
    return None


def write_fitting(stream: TextIO, text: str) -> None:
    """Write a text, without what steers a terminal; on a terminal broken where that is narrower,
    elsewhere a line stays one, for grep."""
    width = room(stream)
    for line in plain(text).split("\n"):
        stream.write("\n".join(fitting(line, width)) + "\n")


def fitting(line: str, width: int | None) -> list[str]:
    """A line as lines that fit, broken at blanks, and between Japanese characters; what goes on
    stands below its own column. Without a width it is left as it is."""
    if width is None or cell_len(line) <= width:
        return [line]
    ends = [gap.end() for gap in GAP.finditer(line)]
    start = next((end for end in reversed(ends) if cell_len(line[:end]) + NARROWEST <= width), 0)
    hang = cell_len(line[:start])
    # a path beside its column would be broken by the terminal
    if not start or longest(line[start:]) > width - hang:
        start, hang = 0, len(line) - len(line.lstrip(" ")) + 2
    first, *others = wrap(line[start:], width - hang)
    return [line[:start] + first, *(" " * hang + further for further in others)]
