"""The setup of a cell's trials: each factor sets its part."""

from __future__ import annotations

from dataclasses import replace

from teiten.factors.registry import is_applied, rule
from teiten.kinds.contract import plan_of
from teiten.model.levels import of_alias
from teiten.model.plan import Cell
from teiten.model.setup import PlannedCell, Setup
from teiten.model.study import Study
from teiten.model.units import Bytes
from teiten.plan.shares import in_bytes

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
    for name, level in sorted(levels, key=lambda one: rule(one[0]).rank):
        if name in kind.brings:
            setup = replace(setup, load=kind.set(setup.load, name, level))
        setup = rule(name).set(setup, name, level, planned)
        if is_applied(name):
            setup = replace(setup, applied=(*setup.applied, (name, level)))
    setup = replace(setup, settings=in_bytes(setup.settings, _memory(study, setup)))
    if not workload.preload:
        return setup
    loaded = filter(None, (dict(setup.settings).get(PRELOAD, ""), *workload.preload))
    return setup.with_settings({PRELOAD: ", ".join(loaded)})


def _memory(study: Study, setup: Setup) -> Bytes | None:
    """In force for one server, as ``model.memory.memory_of``; None for a study without a size."""
    of_node = None if study.nodes is None else study.nodes.memory_in_force
    return setup.memory_limit or of_node or study.machine_memory


def settings_of(study: Study, cell: Cell) -> tuple[tuple[str, str], ...]:
    """The server parameters of a cell. The study must be sized."""
    return setup_of(PlannedCell(study, cell)).settings
