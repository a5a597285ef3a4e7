"""Server parameters of a trial, and the sizes that they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from teiten.model.plan import Cell
from teiten.model.study import GUC_PREFIX, Study
from teiten.model.units import GIB, KIB, MIB, Bytes

_FACTORS = {"": 0, "B": 1, "kB": KIB, "MB": MIB, "GB": GIB, "TB": 1024 * GIB}
_UNITLESS = {
    "shared_buffers": 8 * KIB,
    "max_wal_size": MIB,
    "work_mem": KIB,
    "maintenance_work_mem": KIB,
}
"""What a number without a unit counts (pg_settings.unit)."""

PRELOAD = "session_preload_libraries"
DEFAULTS = {
    "shared_buffers": "128MB",
    "work_mem": "4MB",
    "maintenance_work_mem": "64MB",
    "max_wal_size": "1GB",
    "max_connections": "100",
    "max_worker_processes": "8",
    "max_parallel_workers": "8",
    "max_parallel_workers_per_gather": "2",
}
"""PostgreSQL's own, for what a study does not set."""


def settings_of(study: Study, cell: Cell) -> tuple[tuple[str, str], ...]:
    """The study's parameters with the levels of the cell, its set of parameters, and the levels of
    its server's alias, applied. The study must be sized."""
    of_alias = dict(study.server_levels).get(cell.level("server") or "", ())
    levels = {
        name.removeprefix(GUC_PREFIX): level
        for name, level in (*of_alias, *cell.levels)
        if name.startswith(GUC_PREFIX)
    }
    fixed = {setting.name: setting.value or "" for setting in study.settings}
    together = cell.level("parameters")
    varied = dict(study.parameter_set(together).settings) if together is not None else {}
    found = {**fixed, **varied, **levels}
    preload = study.workload(cell.workload).preload
    if preload:
        found[PRELOAD] = ", ".join(filter(None, (found.get(PRELOAD, ""), *preload)))
    return tuple(found.items())


def size_setting(settings: Mapping[str, str], name: str) -> Bytes:
    """The bytes that a parameter means; PostgreSQL's default where it is not set or not a size."""
    for text in (settings.get(name), DEFAULTS[name]):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kMGT]?B|)", text.strip()) if text else None
        if match is not None:
            return Bytes(int(Decimal(match[1]) * (_FACTORS[match[2]] or _UNITLESS[name])))
    raise AssertionError(f"no default of {name}")


def count_setting(settings: Mapping[str, str], name: str) -> int:
    """A parameter that is a number; PostgreSQL's default where it is not set or not a number."""
    text = settings.get(name, "").strip()
    return int(text) if text.isdecimal() else int(DEFAULTS[name])
