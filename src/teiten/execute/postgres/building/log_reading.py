"""Progress of a build, and why it failed, read from its log. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

COMPILED = re.compile(r"^(?:\S*/)?(?:gcc|g\+\+|cc|clang|ccache|\S*-gcc(?:-\d+)?)\b.* -c\b")
NINJA = re.compile(r"^\[(\d+)/(\d+)\]")
FAULT = re.compile(
    r"(?:: (?:fatal )?error: |^error: |^configure: error: |undefined reference|ERROR: "
    r"|: \*\*\* |^ld: |: not found$|^FAILED: |No space left on device)"
)
MOST_LINES = 12
FILES = 1320
"""Compiled by make in PostgreSQL 15 with contrib (1322); others are near."""


class CompileProgress:
    """How many files are compiled, line by line of make's or ninja's output."""

    def __init__(self) -> None:
        self.done = 0
        self.total = FILES

    def read(self, line: str) -> None:
        ninja = NINJA.match(line)
        if ninja is not None:
            self.done, self.total = int(ninja[1]), int(ninja[2])
        elif COMPILED.match(line):
            self.done += 1
            self.total = max(self.total, self.done)


def why_it_failed(lines: Sequence[str]) -> list[str]:
    """The lines from the first fault on; the last lines where none is known.

    With several jobs, make goes on for a while after the fault, so the end does not tell.
    """
    kept = [line.rstrip() for line in lines if line.strip()]
    first = next((index for index, line in enumerate(kept) if FAULT.search(line)), None)
    if first is None:
        return kept[-MOST_LINES:]
    return kept[max(0, first - 1) : first - 1 + MOST_LINES] if first else kept[:MOST_LINES]
