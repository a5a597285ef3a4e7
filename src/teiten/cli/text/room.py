"""How wide a line may be where it goes, and lines that fit there."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TextIO

from rich.cells import cell_len, set_cell_size

from teiten.cli.text.wrap import longest, wrap

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


def fitting(line: str, width: int | None) -> list[str]:
    """A line as lines that fit, broken at blanks, and between Japanese characters; what goes on
    stands below its own column. Without a width it is left as it is."""
    if width is None or cell_len(line) <= width:
        return [line]
    start = _start(line, width)
    hang = cell_len(line[:start]) if start else _indent(line) + 2
    if (
        start and longest(line[start:]) > width - hang
    ):  # a path beside its column would be broken by the terminal
        start, hang = 0, _indent(line) + 2
    first, *others = wrap(line[start:], width - hang)
    return [line[:start] + first, *(set_cell_size("", hang) + other for other in others)]


def _start(line: str, width: int) -> int:
    """Where the last column begins that has room beside what stands before it; 0 without one."""
    ends = [found.end() for found in GAP.finditer(line)]
    return next((end for end in reversed(ends) if cell_len(line[:end]) + NARROWEST <= width), 0)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
