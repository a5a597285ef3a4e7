"""Installations of PostgreSQL, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teiten.execute.postgres.inspection import WANTED, read_build
from teiten.model.installation import Installation

if TYPE_CHECKING:
    from rich.table import Table


FOLDED = ("name", "build", "contrib", "programs")
"""Columns whose texts go on below."""
SPARE = ("programs", "source", "pgbench")
"""Columns that a narrow terminal does without."""


def _build_text(installation: Installation) -> str:
    """``gcc 12.2.0 -O2, JIT, ICU``"""
    build = read_build(installation.postgres)
    if build is None:
        return ""
    parts = {"JIT": build.jit, "ICU": build.icu}
    return ", ".join([build.told() or "unknown", *(name for name, has in parts.items() if has)])


def table(installations: tuple[Installation, ...]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "version", "source", "build", "contrib", "pgbench", "programs"):
        table.add_column(heading, no_wrap=heading not in FOLDED, overflow="fold")
    for installation in installations:
        table.add_row(
            installation.name,
            str(installation.version),
            f"{installation.source.value}{' (Teiten)' if installation.managed else ''}",
            _build_text(installation),
            _contrib(installation),
            "yes" if installation.pgbench else "no",
            str(installation.bin_directory),
        )
    return table


def _contrib(installation: Installation) -> str:
    if installation.postgres is None:
        return "(no server)"
    lacking = [name for name in WANTED if name not in installation.contrib]
    if not lacking:
        return "complete"
    if len(lacking) == len(WANTED):
        return "none"
    return f"without {', '.join(lacking)}"
