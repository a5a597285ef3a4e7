"""Small files of /proc and /sys, which may be missing, unreadable or empty."""

from __future__ import annotations

from pathlib import Path


def read_text(path: Path) -> str | None:
    """The stripped text of a file; None where it cannot be read (missing, no right, I/O error)."""
    try:
        return path.read_bytes().decode("utf-8", "replace").strip("\0 \t\r\n")
    except OSError:
        return None


def read_int(path: Path) -> int | None:
    """The whole number that a file holds; None where it holds none."""
    text = read_text(path)
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def read_field(path: Path, name: str) -> str | None:
    """The value in the line ``name: value`` of a file, such as /proc/PID/status; None without."""
    lines = (line.partition(":") for line in (read_text(path) or "").split("\n"))
    return next((value.strip() for field, _, value in lines if field == name), None)


def parse_id_list(text: str) -> tuple[int, ...]:
    """The kernel's lists of processors and nodes: ``0-3,8`` is 0, 1, 2, 3, 8.

    Raises ValueError for anything else.
    """
    result: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        result.extend(range(int(first), int(last or first) + 1))
    return tuple(result)


def read_id_list(path: Path) -> tuple[int, ...]:
    """Read a list by ``parse_id_list``; empty where the file is missing or holds something else."""
    try:
        return parse_id_list(read_text(path) or "")
    except ValueError:
        return ()
