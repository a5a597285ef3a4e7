"""Commands of pgbench's scripts that have pgbench run a program."""

from __future__ import annotations

import re

_SHELL = re.compile(r"\\(?:\s|\\)*(?:set)?shell\b", re.IGNORECASE)
"""Wherever a backslash command may begin; also in a comment or a text, which does no harm."""


def runs_programs(text: str) -> bool:
    r"""Whether a script has ``\shell`` or ``\setshell``."""
    return _SHELL.search(text) is not None
