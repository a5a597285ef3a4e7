"""On which line of a TOML text a key stands, so that an error can name it.

This is no second TOML parser: it reads a text that ``tomllib`` has accepted, and only needs table
headers and the keys at the start of lines. A key inside an inline table is found as its parent.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import TeitenError

KeyPath = tuple[str | int, ...]

_KEY_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_KEY = rf"{_KEY_PART}(?:\s*\.\s*{_KEY_PART})*"
_ASSIGNMENT = re.compile(rf"\s*({_KEY})\s*=(.*)")
_TABLE = re.compile(rf"\s*\[\s*({_KEY})\s*\]")
_ARRAY_TABLE = re.compile(rf"\s*\[\[\s*({_KEY})\s*\]\]")
_PART = re.compile(_KEY_PART)


def key_lines(text: str) -> dict[KeyPath, int]:
    """Each table and key of a valid TOML text with its line, counted from 1."""
    lines: dict[KeyPath, int] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for number, line in _lines_outside_texts(text):
        header = _header(line, counts)
        if header is not None:
            table = header
            _note(lines, table, 1, number)
        elif assignment := _ASSIGNMENT.match(line):
            path: KeyPath = (*table, *_parts(assignment[1]))
            _note(lines, path, len(table) + 1, number)
    return lines


def _note(lines: dict[KeyPath, int], path: KeyPath, first: int, number: int) -> None:
    """Remember the line for a path and the tables around it that were not seen before."""
    for end in range(first, len(path) + 1):
        lines.setdefault(path[:end], number)


def line_of(lines: Mapping[KeyPath, int], path: Sequence[str | int]) -> int:
    """The line of a key, or of the nearest table around it; 1 where neither is in the text."""
    for end in range(len(path), 0, -1):
        line = lines.get(tuple(path[:end]))
        if line is not None:
            return line
    return 1


def dotted(path: Sequence[str | int]) -> str:
    """A key path for people: ``workloads.2.scale`` (tables of an array count from 1)."""
    parts = (str(part + 1) if isinstance(part, int) else part for part in path)
    return ".".join(parts)


def syntax_error_line(error: tomllib.TOMLDecodeError) -> int:
    """The line that tomllib's message names; 1 where it names none."""
    match = re.search(r"\(at line (\d+)", str(error))
    return int(match[1]) if match else 1


def _header(line: str, counts: dict[KeyPath, int]) -> KeyPath | None:
    """The path that a ``[table]`` or ``[[array]]`` line opens."""
    if array := _ARRAY_TABLE.match(line):
        path = _with_indices(_parts(array[1]), counts)
        index = counts.get(path, -1) + 1
        counts[path] = index
        return (*path, index)
    if table := _TABLE.match(line):
        return _with_indices(_parts(table[1]), counts, whole=True)
    return None


def _with_indices(
    parts: Sequence[str], counts: Mapping[KeyPath, int], *, whole: bool = False
) -> KeyPath:
    """A header's names with the running index of each array of tables that they pass."""
    path: KeyPath = ()
    for position, part in enumerate(parts):
        path = (*path, part)
        if path in counts and (whole or position < len(parts) - 1):
            path = (*path, counts[path])
    return path


def _parts(key: str) -> tuple[str, ...]:
    return tuple(
        part[1:-1] if part[0] in "\"'" else part
        for part in (match[0] for match in _PART.finditer(key))
    )


def _lines_outside_texts(text: str) -> Iterator[tuple[int, str]]:
    """The lines that do not stand inside a text of several lines."""
    closing: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if closing is not None:
            if closing in line:
                closing = None
            continue
        yield number, line
        if not line.lstrip().startswith("#"):
            closing = _opened_text(line)


def _opened_text(line: str) -> str | None:
    """The quotes that close a text which this line opens and does not close."""
    positions = [(line.find(quotes), quotes) for quotes in ("'''", '"""') if quotes in line]
    if not positions:
        return None
    start, quotes = min(positions)
    return None if quotes in line[start + 3 :] else quotes


Further = Sequence[tuple[KeyPath, str]]
"""Further problems of the same file: where, and what."""
Fail = Callable[[KeyPath, str, str, Further], TeitenError]
"""Makes the error of a key path, a message, a hint, and the problems beside it."""


@dataclass(frozen=True)
class Place:
    """A workload's table in a study file."""

    index: int
    """Among the tables ``[[workloads]]``, from 0."""
    folders: Sequence[Path]
    """Where files are looked for that it names."""
    fail: Fail

    def error(self, key: str | Sequence[str | int], message: str, hint: str) -> TeitenError:
        """The error of one of the workload's keys, or of a path of keys; empty for the table."""
        path = ([key] if key else []) if isinstance(key, str) else key
        return self.fail(("workloads", self.index, *path), message, hint, ())
