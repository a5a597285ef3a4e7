"""Texts of SQL, and of scripts with it, as far as they are the same.

Commands of pgbench's scripts that have pgbench run a program.
"""

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
