"""Installations of PostgreSQL, for people and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from teiten.execute.postgres.built_as import read_build
from teiten.execute.postgres.contrib import WANTED
from teiten.model.installation import Installation

if TYPE_CHECKING:
    from rich.table import Table


FOLDED = ("name", "build", "contrib", "programs")
"""Columns whose texts go on below."""
SPARE = ("programs", "source", "pgbench")
"""Columns that a narrow terminal does without."""


def describe(one: Installation) -> dict[str, Any]:
    """An installation as JSON."""
    return {
        "name": one.name,
        "version": str(one.version),
        "version_number": one.version.number,
        "source": one.source.value,
        "managed": one.managed,
        "server": one.postgres is not None,
        "bin_directory": str(one.bin_directory),
        "pgbench": str(one.pgbench) if one.pgbench else None,
        "psql": str(one.psql) if one.psql else None,
        "contrib": sorted(one.contrib),
        "fingerprint": one.fingerprint,
        "build": asdict(one.build) if one.build else None,
        "built_as": _built_as(one),
    }


def _built_as(one: Installation) -> dict[str, Any] | None:
    found = read_build(one)
    if found is None:
        return None
    return {
        "compiler": found.compiler,
        "optimisation": found.optimisation,
        "link_time_optimisation": found.link_time_optimisation,
        "assertions": found.assertions,
        "jit": found.jit,
        "icu": found.icu,
        "cflags": found.cflags,
        "configure": found.configure,
    }


def _build_text(one: Installation) -> str:
    """``gcc 12.2.0 -O2, JIT, ICU``"""
    found = read_build(one)
    if found is None:
        return ""
    parts = {"JIT": found.jit, "ICU": found.icu}
    return ", ".join([found.told() or "unknown", *(name for name, has in parts.items() if has)])


def table(installations: tuple[Installation, ...]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "version", "source", "build", "contrib", "pgbench", "programs"):
        table.add_column(heading, no_wrap=heading not in FOLDED, overflow="fold")
    for one in installations:
        table.add_row(
            one.name,
            str(one.version),
            f"{one.source.value}{' (Teiten)' if one.managed else ''}",
            _build_text(one),
            _contrib(one),
            "yes" if one.pgbench else "no",
            str(one.bin_directory),
        )
    return table


def _contrib(one: Installation) -> str:
    if one.postgres is None:
        return "(no server)"
    lacking = [name for name in WANTED if name not in one.contrib]
    if not lacking:
        return "complete"
    if len(lacking) == len(WANTED):
        return "none"
    return f"without {', '.join(lacking)}"
