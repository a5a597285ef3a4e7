"""Plain text in columns and paragraphs; Japanese characters count two columns."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.cells import cell_len

from teiten.cli.text.room import room
from teiten.cli.text.wrap import wrap

WIDTH = 92


def columns(rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """Rows as lines with aligned columns. ``right``: the columns that are aligned right."""
    if not rows:
        return []
    widths = [max(cell_len(row[index]) for row in rows) for index in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = []
        for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - cell_len(cell))
            cells.append(space + cell if index in right else cell + space)
        lines.append("  ".join(cells).rstrip())
    return lines


def paragraph(text: str, *, indent: str = "", width: int | None = None) -> list[str]:
    """A text as lines of at most ``width`` cells: where that is not said, WIDTH, or those of a
    narrower terminal. Only a longer word, as a path is, goes beyond."""
    lines = wrap(" ".join(text.split()), (width or _usual()) - len(indent))
    return [indent + line for line in lines if line]


def _usual() -> int:
    return min(WIDTH, room(sys.stdout) or WIDTH)


def bullets(texts: Sequence[str], *, width: int | None = None) -> list[str]:
    """Each text as a list entry."""
    lines = []
    for text in texts:
        first, *rest = paragraph(text, width=(width or _usual()) - 4) or [""]
        lines += [f"  - {first}", *(f"    {line}" for line in rest)]
    return lines
