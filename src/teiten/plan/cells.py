"""The cells of a study: every combination of levels of each workload, the levels that they have,
and the setup of their trials, of which each factor sets its part.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from teiten.errors import UsageError
from teiten.factors.registry import is_applied, rule
from teiten.kinds.contract import plan_of
from teiten.kinds.registry import names as kinds
from teiten.model.memory import SHARED_BUFFERS, memory_in_force
from teiten.model.plan import Cell
from teiten.model.quantities import exact_size, is_share, parse_share
from teiten.model.setup import PlannedCell, Setup, of_alias
from teiten.model.study import SERVER, DataSet, Study, Workload
from teiten.model.units import KIB, Bytes


def cell_groups(study: Study) -> tuple[tuple[Cell, ...], ...]:
    """Cells by context: each group differs in the contrasted factor alone, the old level first."""
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for workload in study.workloads:
        for cell in _of_factors(study, workload, [factor.name for factor in study.factors]):
            key = (workload.name, cell.context(study.contrast))
            groups.setdefault(key, []).append(cell)
    return tuple(tuple(group) for group in groups.values())


def trials_of(study: Study, group: Sequence[Cell]) -> int:
    """How many trials a group of cells has in the blocks that have all levels between them."""
    return len(group) + study.starts_of_all - 1


def data_sets(study: Study, workload: Workload) -> tuple[DataSet, ...]:
    """All data sets of a workload, whatever the levels of the factors that change its data."""
    names = [factor.name for factor in study.factors if rule(factor.name).of_data]
    own = (name for _, levels in study.server_levels for name, _ in levels)
    if any(rule(name).of_data for name in own):
        names.append(SERVER)
    cells = _of_factors(study, workload, names)
    return tuple(dict.fromkeys(setup_of(PlannedCell(study, cell)).data for cell in cells))


def _of_factors(study: Study, workload: Workload, factors: list[str]) -> Iterator[Cell]:
    names = [name for name in factors if applies(name, workload)]
    for combination in itertools.product(*(levels_of(study, workload, name) for name in names)):
        yield Cell(workload=workload.name, levels=tuple(zip(names, combination, strict=True)))


def applies(factor: str, workload: Workload) -> bool:
    """Whether a factor says anything of a workload. What a kind brings is of that kind alone."""
    known = factor in plan_of(workload.kind).brings or not any(
        factor in plan_of(kind).brings for kind in kinds()
    )
    return known and rule(factor).applies(workload)


def levels_of(study: Study, workload: Workload, factor: str) -> tuple[str, ...]:
    """The levels of a factor in one workload; none where it says nothing of it."""
    if not applies(factor, workload):
        return ()
    limited = workload.own_levels(factor)
    levels = limited if limited is not None else study.levels(factor)
    own = plan_of(workload.kind).own_levels(workload.options, factor)
    return levels if own is None else tuple(level for level in levels if level in own)


def most_clients(study: Study) -> int:
    """The largest number of clients of any trial."""
    levels = (levels_of(study, workload, "clients") for workload in study.workloads)
    return max((int(level) for of_workload in levels for level in of_workload), default=1)


PRELOAD = "session_preload_libraries"


def setup_of(planned: PlannedCell) -> Setup:
    """The setup of a cell: the study's settings, what the workload's kind begins with, and the
    levels of its server's alias and its own, by rank. The study must be sized."""
    study, cell, workload = planned.study, planned.cell, planned.workload
    fixed = tuple((setting.name, setting.value or "") for setting in study.settings)
    kind = plan_of(workload.kind)
    setup = Setup(
        data=workload.data,
        settings=fixed,
        load=kind.first_load(workload.options),
        memory_limit=study.measure.memory,
    )
    levels = (*of_alias(study, cell), *cell.levels)
    for name, level in sorted(levels, key=lambda pair: rule(pair[0]).rank):
        if name in kind.brings:
            setup = replace(setup, load=kind.set(setup.load, name, level))
        setup = rule(name).set(setup, name, level, planned)
        if is_applied(name):
            setup = replace(setup, applied=(*setup.applied, (name, level)))
    memory = memory_in_force(study, setup.memory_limit)
    setup = replace(setup, settings=in_bytes(setup.settings, memory))
    if not workload.preload:
        return setup
    loaded = filter(None, (dict(setup.settings).get(PRELOAD, ""), *workload.preload))
    return setup.with_settings({PRELOAD: ", ".join(loaded)})


BLOCK = 8 * KIB
"""Block size of nearly every server; one that was built with others rounds to its own."""


def in_bytes(
    settings: tuple[tuple[str, str], ...], memory: Bytes | None
) -> tuple[tuple[str, str], ...]:
    """The settings with a size in the place of a share; ``memory``: None where it is not known,
    which leaves the share.

    Raises UsageError for a share that is none of a memory.
    """
    if memory is None or not is_share(dict(settings).get(SHARED_BUFFERS, "")):
        return settings
    return tuple(
        (name, exact_size(buffers(value, memory)) if name == SHARED_BUFFERS else value)
        for name, value in settings
    )


def buffers(share: str, memory: Bytes) -> Bytes:
    """So much of the memory, in whole blocks. Raises UsageError."""
    part = parse_share(share)
    if not 0 < part < 1:
        raise UsageError(
            f"{SHARED_BUFFERS}={share} is no share of the memory",
            "write shares above 0% and below 100%, such as 25%, or a size, such as 4GB",
        )
    return Bytes(max(1, int(memory * part) // BLOCK) * BLOCK)
