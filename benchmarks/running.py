"""Teiten as a user runs it, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def teiten(workdir: Path, *words: str, check: bool = True) -> str:
    """What a verb prints; its progress goes to the terminal. Raises CalledProcessError where it
    fails, if that is to be checked."""
    command = [sys.executable, "-m", "teiten", "--workdir", str(workdir), *words]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=check).stdout
