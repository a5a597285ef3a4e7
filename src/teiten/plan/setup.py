"""What the levels of a cell make of its trial: each factor sets its part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from teiten.factors.registry import rule
from teiten.kinds.contract import plan_of
from teiten.model.distribution import Distribution
from teiten.model.facts import LogicalCpu
from teiten.model.plan import Cell, PlannedLoad
from teiten.model.storage import FilePlacement
from teiten.model.study import DataSet, Study, Workload
from teiten.model.units import Bytes
from teiten.plan.levels import of_alias
from teiten.plan.shares import in_bytes

PRELOAD = "session_preload_libraries"


@dataclass(frozen=True)
class Setup:
    """Everything of a trial that a factor may set."""

    data: DataSet
    """All tables, wherever they are."""
    parts: tuple[DataSet, ...] = ()
    """What each server holds of them, where there are several; empty for one that has all."""
    distribution: Distribution | None = None
    settings: tuple[tuple[str, str], ...] = ()
    """Server parameters, each once."""
    checksums: bool = False
    load: PlannedLoad = field(default_factory=PlannedLoad)
    server_cpus: tuple[int, ...] = ()
    client_cpus: tuple[int, ...] = ()
    directory: str | None = None
    placement: FilePlacement | None = None
    memory_limit: Bytes | None = None

    def with_settings(self, settings: Mapping[str, str]) -> Setup:
        return replace(self, settings=tuple({**dict(self.settings), **settings}.items()))


@dataclass(frozen=True)
class Around:
    """What a factor may look at where it sets something."""

    study: Study
    cell: Cell
    cpus: Sequence[LogicalCpu] = ()
    """What servers can be pinned to."""

    @property
    def workload(self) -> Workload:
        return self.study.workload(self.cell.workload)


def setup_of(around: Around) -> Setup:
    """The setup of a cell: the study's settings, what the workload's kind begins with, and the
    levels of its server's alias and its own, by rank. The study must be sized."""
    study, cell, workload = around.study, around.cell, around.workload
    fixed = tuple((one.name, one.value or "") for one in study.settings)
    kind = plan_of(workload.kind)
    setup = Setup(
        workload.data,
        settings=fixed,
        load=kind.first_load(workload.options),
        memory_limit=study.measure.memory,
    )
    levels = (*of_alias(study, cell), *cell.levels)
    for name, level in sorted(levels, key=lambda one: rule(one[0]).rank):
        if name in kind.brings:
            setup = replace(setup, load=kind.set(setup.load, name, level))
        setup = rule(name).set(setup, name, level, around)
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
    return setup_of(Around(study, cell)).settings
