"""Teiten as a user runs it, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def command_line(workdir: Path | None, *words: str) -> list[str]:
    """The command line of a verb. ``workdir``: None for the usual one."""
    place = () if workdir is None else ("--workdir", str(workdir))
    return [sys.executable, "-m", "teiten", *place, *words]


def teiten(workdir: Path, *words: str, check: bool = True) -> str:
    """What a verb prints; its progress goes to the terminal. Raises CalledProcessError where it
    fails, if that is to be checked."""
    line = command_line(workdir, *words)
    return subprocess.run(line, stdout=subprocess.PIPE, text=True, check=check).stdout
