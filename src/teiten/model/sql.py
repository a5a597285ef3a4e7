"""Texts of SQL, and of scripts with it: as far as they are the same, and what they run or
change."""

from __future__ import annotations

import re


def commands(script: str) -> list[str]:
    """A script without its comments and spacing."""
    lines = (line.strip() for line in script.splitlines())
    return " ".join(line for line in lines if not line.startswith("--")).split()


_SHELL = re.compile(r"\\(?:\s|\\)*(?:set)?shell\b", re.IGNORECASE)
"""Wherever a backslash command may begin; also in a comment or a text, which does no harm."""


def runs_programs(text: str) -> bool:
    r"""Whether a script has ``\shell`` or ``\setshell``."""
    return _SHELL.search(text) is not None


NOT_CODE = r"""'(?:[^']|'')*'|"[^"]*"|--[^\n]*|/\*.*?\*/"""
"""Texts, quoted names and comments."""
_CODE = re.compile(NOT_CODE, re.DOTALL)
_WRITES = re.compile(
    r"\b(?:insert|update|delete|merge|copy|truncate|create|drop|alter|lock|share|call|do|nextval"
    r"|setval|vacuum|analyze|cluster|reindex|refresh|notify|import|grant|revoke|prepare)\b",
    re.IGNORECASE,
)


def changes_data(text: str) -> bool:
    """Whether a script has a word of those that write, or lock rows; functions may hide one."""
    return _WRITES.search(_CODE.sub(" ", text)) is not None
