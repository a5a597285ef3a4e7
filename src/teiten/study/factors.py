"""The factors of a study with their levels: the study's own, those that workloads bring, and those
of which a workload has only some levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from teiten.factors.registry import rule
from teiten.kinds.contract import plan_of
from teiten.kinds.registry import names as kinds
from teiten.model.study import SERVER, Factor, Workload
from teiten.study.draft import Draft
from teiten.study.file import StudyFile
from teiten.study.schema import WorkloadTable
from teiten.study.values import AUTO
from teiten.suggest import did_you_mean

Levels = Mapping[str, tuple[str, ...]]


def study_factors(draft: Draft, tables: StudyFile) -> tuple[Factor, ...]:
    """The factors; empty levels are named by the workloads, or derived from the machine.

    Raises UsageError or StudyError where a factor is missing, or its levels contradict.
    """
    levels = _brought(draft, tables)
    levels = with_own_levels(draft, tables, levels)
    contrast = tables.study.contrast
    used = {table.kind for table in tables.workloads if table.name in draft.selected}
    if levels.get(contrast) != () or not any(plan_of(kind).tells(contrast) for kind in used):
        _check_contrast(draft, contrast, levels)
    return tuple(Factor(name, of_factor) for name, of_factor in levels.items())


def with_told_levels(
    draft: Draft, factors: Sequence[Factor], workloads: Sequence[Workload], contrast: str
) -> tuple[Factor, ...]:
    """The factors with all levels that workloads tell, or with those that were selected of them.

    Raises UsageError or StudyError where one was selected that no workload has, or where they tell
    too few levels of what is contrasted.
    """
    complete = tuple(_told(draft, factor, workloads) for factor in factors)
    before = {factor.name: factor.levels for factor in factors}
    for factor in complete:
        if factor.name == contrast and factor.levels != before[contrast]:
            _check_contrast(draft, contrast, {factor.name: factor.levels})
    return complete


def _told(draft: Draft, factor: Factor, workloads: Sequence[Workload]) -> Factor:
    of_workloads = [
        plan_of(workload.kind).own_levels(workload.options, factor.name) for workload in workloads
    ]
    names = tuple(dict.fromkeys(level for levels in of_workloads for level in levels or ()))
    if not names:
        return factor
    for level in factor.levels:
        if level not in names:
            raise draft.error(
                ("factors", factor.name),
                f"there is no {factor.name} {level!r}.{did_you_mean(level, names)}",
                f"there are {', '.join(names)}",
            )
    return Factor(factor.name, factor.levels or names)


def _brought(draft: Draft, tables: StudyFile) -> dict[str, tuple[str, ...]]:
    """With the factors that the kinds of the workloads bring and whose levels they tell."""
    levels = dict(tables.factors)
    used = {table.kind for table in tables.workloads if table.name in draft.selected}
    left_out = {table.kind for table in tables.workloads} - used
    if SERVER not in levels:
        raise draft.error(("factors",), *rule(SERVER).missing)
    for kind in kinds():
        plan = plan_of(kind)
        for factor in plan.brings:
            if kind in used and factor in plan.needs and factor not in levels:
                raise draft.error(("factors",), *rule(factor).missing)
            if kind in used and plan.tells(factor):
                levels.setdefault(factor, ())
            elif kind not in used and plan.tells(factor) and factor in levels:
                raise draft.error(("factors", factor), *rule(factor).missing)
            elif kind in left_out:
                levels.pop(factor, None)
    return levels


def _check_contrast(draft: Draft, contrast: str, levels: Levels) -> None:
    if contrast not in levels:
        raise draft.error(
            ("study", "contrast"),
            f"{contrast!r} is not a factor of this study.{did_you_mean(contrast, levels)}",
            f"its factors are {', '.join(levels)}; add levels with --set {contrast}=A,B",
        )
    if not levels[contrast] and rule(contrast).automatic_contrast:
        return  # sizing derives two levels or more, or refuses
    if len(levels[contrast]) < 2:
        given = ", ".join(levels[contrast]) or AUTO
        raise draft.error(
            ("factors", contrast),
            f"{contrast} is contrasted and needs at least two levels, the old one first; it has"
            f" {given}",
            f"give both, for example {rule(contrast).flag.format(factor=contrast)}",
        )


def with_own_levels(draft: Draft, tables: StudyFile, levels: Levels) -> dict[str, tuple[str, ...]]:
    """The factors' levels with those that only one workload has, which follow in their order.

    Raises UsageError or StudyError where a workload limits what is no factor.
    """
    every = dict(levels)
    for index, table in enumerate(tables.workloads):
        limits = _limits(table) if table.name in draft.selected else {}
        for factor, own in limits.items():
            if factor not in every:
                raise draft.error(
                    ("workloads", index, "levels", factor),
                    f"{factor!r} is not a factor of this study.{did_you_mean(factor, every)}",
                    f"its factors are {', '.join(every)}",
                )
            if every[factor] or factor not in plan_of(table.kind).level_keys:  # not auto
                every[factor] = _merged(every[factor], own)
    return every


def _merged(base: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    """Numbers in rising order, so that a sweep reads as one; others as they come."""
    merged = tuple(dict.fromkeys((*base, *own)))
    if merged == base or not all(level.isdecimal() for level in merged):
        return merged
    return tuple(sorted(merged, key=int))


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
