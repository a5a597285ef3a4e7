"""Texts of SQL, and of scripts with it, as far as they are the same."""

from __future__ import annotations


def commands(script: str) -> list[str]:
    """A script without its comments and spacing."""
    lines = (line.strip() for line in script.splitlines())
    return " ".join(line for line in lines if not line.startswith("--")).split()
