"""What of a study's factors needs more than a list of levels: layouts, sets of parameters, and
factors of which a workload has only some levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from teiten.model.study import GUC_PREFIX, Factor, ParameterSet, Workload
from teiten.study.draft import Draft
from teiten.study.file import StudyFile
from teiten.study.schema import WorkloadTable
from teiten.suggest import did_you_mean

LAYOUT, PARAMETERS = "layout", "parameters"
Levels = Mapping[str, tuple[str, ...]]


def with_own_levels(draft: Draft, tables: StudyFile, levels: Levels) -> dict[str, tuple[str, ...]]:
    """The factors' levels with those that only one workload has, which follow in their order.

    Raises UsageError or StudyError where a workload limits what is no factor.
    """
    found = dict(levels)
    for index, table in enumerate(tables.workloads):
        for factor, own in table.levels.items() if table.name in draft.selected else ():
            if factor not in found:
                raise draft.error(
                    ("workloads", index, "levels", factor),
                    f"{factor!r} is not a factor of this study.{did_you_mean(factor, found)}",
                    f"its factors are {', '.join(found)}",
                )
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
        one.name: base[one.name]
        for one in factors
        if one.name not in ("clients", "query") and base.get(one.name, ()) not in ((), one.levels)
    }
    return tuple({**limited, **table.levels}.items())


def parameter_sets(
    draft: Draft, tables: StudyFile, factors: Sequence[Factor]
) -> tuple[ParameterSet, ...]:
    """What the levels of the factor parameters set. Raises where a level names no set, and where a
    set fixes what something else varies."""
    levels = next((factor.levels for factor in factors if factor.name == PARAMETERS), ())
    for level in levels:
        if level not in tables.parameters:
            known = ", ".join(tables.parameters) or "none"
            raise draft.error(
                ("factors", PARAMETERS),
                f"there is no set of parameters {level!r}.{did_you_mean(level, tables.parameters)}",
                f"the study file has {known}; write [parameters.{level}] with NAME = VALUE lines",
            )
        _check_set(draft, level, tables.parameters[level], factors)
    return tuple(ParameterSet(one, tuple(tables.parameters[one].items())) for one in levels)


def _check_set(
    draft: Draft, level: str, settings: Mapping[str, str], factors: Sequence[Factor]
) -> None:
    varied = {factor.name for factor in factors}
    for name in settings:
        if GUC_PREFIX + name in varied:
            raise draft.error(
                ("parameters", level, name),
                f"sets {name}, and the factor {GUC_PREFIX}{name} varies it",
                "leave out one of the two",
            )
        if name in draft.fixed_settings:
            raise draft.error(
                ("settings", name, "value"),
                f"fixes {name}, and the set of parameters {level} sets it",
                f"leave out one of the two; the sets in use: --set {PARAMETERS}=…",
            )


def check_layouts(
    draft: Draft, contrast: str, factors: Sequence[Factor], workloads: Sequence[Workload]
) -> None:
    """Every level of the factor layout is one of the workload's layouts."""
    factor = next((one for one in factors if one.name == LAYOUT), None)
    if factor is None:
        return
    if not any(one.layouts for one in workloads):
        raise draft.error(
            ("factors", LAYOUT),
            "no workload has layouts",
            'write [workloads.data.layouts] with NAME = ["file.sql"] lines, or --set'
            " data.layouts.NAME=file.sql",
        )
    for workload in workloads:
        _check_layouts_of(
            draft, contrast, dict(workload.levels).get(LAYOUT, factor.levels), workload
        )


def _check_layouts_of(
    draft: Draft, contrast: str, levels: Sequence[str], workload: Workload
) -> None:
    known = [one.name for one in workload.layouts]
    if contrast == LAYOUT and not known:
        raise draft.error(
            ("study", "contrast"),
            f"layouts are contrasted, and the workload {workload.name} has none",
            "leave the workload out, or give it layouts: --set data.layouts.NAME=file.sql",
        )
    for level in levels if known else ():
        if level not in known:
            raise draft.error(
                ("factors", LAYOUT),
                f"the workload {workload.name} has no layout {level!r}."
                f"{did_you_mean(level, known)}",
                f"it has {', '.join(known)}; scripts for it: --set data.layouts.{level}=file.sql",
            )
