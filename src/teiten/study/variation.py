"""Factors of which a workload has only some levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from teiten.kinds.contract import plan_of
from teiten.model.study import Factor
from teiten.study.draft import Draft
from teiten.study.file import StudyFile
from teiten.study.schema import WorkloadTable
from teiten.suggest import did_you_mean

Levels = Mapping[str, tuple[str, ...]]


def with_own_levels(draft: Draft, tables: StudyFile, levels: Levels) -> dict[str, tuple[str, ...]]:
    """The factors' levels with those that only one workload has, which follow in their order.

    Raises UsageError or StudyError where a workload limits what is no factor.
    """
    found = dict(levels)
    for index, table in enumerate(tables.workloads):
        limits = _limits(table) if table.name in draft.selected else {}
        for factor, own in limits.items():
            if factor not in found:
                raise draft.error(
                    ("workloads", index, "levels", factor),
                    f"{factor!r} is not a factor of this study.{did_you_mean(factor, found)}",
                    f"its factors are {', '.join(found)}",
                )
            if found[factor] or factor not in plan_of(table.kind).level_keys:  # not auto
                found[factor] = _merged(found[factor], own)
    return found


def _merged(base: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    """Numbers in rising order, so that a sweep reads as one; others as they come."""
    found = tuple(dict.fromkeys((*base, *own)))
    if found == base or not all(level.isdecimal() for level in found):
        return found
    return tuple(sorted(found, key=int))


def own_levels(
    table: WorkloadTable, base: Levels, factors: Sequence[Factor]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Factors of which the workload has only some levels: those that it limits, and those to which
    only others add levels (``base``: what the study says of all workloads)."""
    limited = {
        factor.name: base[factor.name]
        for factor in factors
        if base.get(factor.name, ()) not in ((), factor.levels)
    }
    return tuple({**limited, **_limits(table)}.items())


def _limits(table: WorkloadTable) -> dict[str, tuple[str, ...]]:
    """Collect the levels that a workload names, in keys of its kind or below ``levels``."""
    own = {key: getattr(table, key) for key in plan_of(table.kind).level_keys}
    return {**{key: levels for key, levels in own.items() if levels}, **table.levels}
