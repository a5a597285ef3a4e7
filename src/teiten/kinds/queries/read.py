"""The queries of a workload: a folder of SQL files, one statement each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from teiten.given_paths import expanded
from teiten.kinds.queries.model import Query

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NUMBERS = re.compile(r"(\d+)")
_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def read_queries(folder: str, folders: Sequence[Path]) -> tuple[Query, ...]:
    """The queries in a folder, q2 before q10. ``folders``: where a relative one is looked for.

    Raises ValueError with a sentence for people.
    """
    found = _folder(folder, folders)
    files = sorted(found.glob("*.sql"), key=lambda path: _in_order(path.stem))
    if not files:
        raise ValueError(f"the folder {found} holds no file *.sql")
    return tuple(_query(path) for path in files)


def _folder(folder: str, folders: Sequence[Path]) -> Path:
    for base in folders:
        path = base / expanded(folder)
        if path.is_dir():
            return path
    raise ValueError(f"there is no folder {folder!r}")


def _in_order(name: str) -> list[tuple[int, int, str]]:
    parts = _NUMBERS.split(name)
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts if part]


def _query(path: Path) -> Query:
    if _NAME.fullmatch(path.stem) is None:
        raise ValueError(
            f"{path.name}: a query's file is named with letters, digits, '.', '-' and '_'"
        )
    try:
        text = path.read_text(encoding="utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ValueError(f"the query {path} is not a text in UTF-8") from error
    except OSError as error:
        raise ValueError(f"the query {path} cannot be read: {error.strerror}") from error
    if not _COMMENTS.sub("", text).strip(" \t\r\n;"):
        raise ValueError(f"the query {path} holds no statement")
    if "\0" in text:
        raise ValueError(f"the query {path} holds a NUL character")
    return Query(path.stem, text.strip() + "\n")
