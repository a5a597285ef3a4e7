"""Plain text in columns and paragraphs; Japanese characters count two columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.cells import cell_len, chop_cells

WIDTH = 92
CLOSING_MARKS = "、。)」』】・:;!?"


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


def paragraph(text: str, *, indent: str = "", width: int = WIDTH) -> list[str]:
    """A text as lines; one with wide characters is cut between any two of them."""
    if cell_len(text) == len(text):
        return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent)
    return [indent + line for line in _without_hanging(chop_cells(text, width - len(indent) - 2))]


def _without_hanging(lines: Sequence[str]) -> list[str]:
    """No line begins with a closing mark (kinsoku): it stays on the line before."""
    result: list[str] = []
    for line in lines:
        rest = line.lstrip(CLOSING_MARKS) if result else line
        if result:
            result[-1] += line[: len(line) - len(rest)]
        if rest:
            result.append(rest)
    return result


def bullets(texts: Sequence[str], *, width: int = WIDTH) -> list[str]:
    """Each text as a list entry."""
    lines = []
    for text in texts:
        first, *rest = paragraph(text, width=width - 4) or [""]
        lines += [f"  - {first}", *(f"    {line}" for line in rest)]
    return lines
