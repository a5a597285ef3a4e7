"""A sized study and its servers to a plan: every trial in order, with all that it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from teiten.errors import UsageError
from teiten.kinds.pgbench.model import PgbenchOptions
from teiten.model.facts import LogicalCpu
from teiten.model.installation import Installation, Pgbench
from teiten.model.plan import Cell, Plan, PlannedTrial, TemplateSpec
from teiten.model.study import DataSet, Factor, QueryMode, Study, Workload
from teiten.model.units import Bytes
from teiten.plan.attached import check_attached, split_settings
from teiten.plan.cells import cell_groups, data_of, every_level, level_of
from teiten.plan.estimate import CLUSTER_BYTES, estimate
from teiten.plan.layouts import check_layouts, check_preloads
from teiten.plan.ordering import in_blocks
from teiten.plan.pinning import FACTOR as CORES
from teiten.plan.pinning import Pinning, pin
from teiten.plan.settings import settings_of
from teiten.plan.side_by_side import with_turns
from teiten.plan.volumes import data_bytes

Fingerprint = Callable[[Installation, bool, DataSet], str]
"""Names a template: installation, whether with data checksums, data set."""
Sizer = Callable[[DataSet], Bytes]
"""The bytes of a template's folder."""


def expand(
    study: Study,
    servers: Sequence[tuple[str, Installation]],
    pgbench: Pgbench,
    *,
    seed: int,
    fingerprint: Fingerprint,
    expected_bytes: Sizer | None = None,
    ready: Collection[str] = (),
    cpus: Sequence[LogicalCpu] = (),
) -> Plan:
    """The plan of a sized study.

    ``servers``: each level of the factor server with its installation. ``ready``: fingerprints of
    templates that exist. ``cpus``: what a factor cores can pin to. Raises UsageError where two
    levels are one installation by accident.
    """
    _check_servers(study, servers)
    check_attached(study, servers)
    size = expected_bytes or (lambda data: Bytes(data_bytes(data) + CLUSTER_BYTES))
    templates = _Templates(dict(servers), fingerprint, size)
    trials = tuple(_trials(study, templates, seed, cpus))
    if study.measure.side_by_side:
        trials = tuple(with_turns(study, trials))
    needed = tuple(templates.by_fingerprint.values())
    check_layouts(trials)
    check_preloads(study, trials)
    return Plan(
        study=study,
        seed=seed,
        servers=tuple(servers),
        pgbench=pgbench,
        templates=needed,
        trials=trials,
        needs=estimate(study, trials, needed, ready),
    )


class _Templates:
    """The templates that trials ask for, each made once."""

    def __init__(
        self, servers: Mapping[str, Installation], fingerprint: Fingerprint, size: Sizer
    ) -> None:
        self.servers = servers
        self._fingerprint = fingerprint
        self._size = size
        self._made: dict[tuple[str, bool, DataSet], TemplateSpec] = {}
        self.by_fingerprint: dict[str, TemplateSpec] = {}

    def of(self, server: str, checksums: bool, data: DataSet) -> TemplateSpec:
        key = (server, checksums, data)
        if key not in self._made:
            installation = self.servers[server]
            if installation.attached is not None:
                checksums = installation.attached.data_checksums
            made = TemplateSpec(
                installation=installation,
                checksums=checksums,
                data=data,
                fingerprint=self._fingerprint(installation, checksums, data),
                expected_bytes=self._size(data),
            )
            self._made[key] = self.by_fingerprint.setdefault(made.fingerprint, made)
        return self._made[key]


def _trials(
    study: Study, templates: _Templates, seed: int, cpus: Sequence[LogicalCpu]
) -> Iterator[PlannedTrial]:
    most = max((int(cores) for cores in every_level(study, CORES)), default=0)
    copies = _copies(study, templates.servers)
    contrasted = study.factor(study.contrast)
    order = in_blocks(cell_groups(study), blocks=study.measure.blocks, seed=seed)
    for number, placed in enumerate(order, start=1):
        cell: Cell = placed.item
        workload = study.workload(cell.workload)
        clients = int(cell.level("clients") or 1)
        server = cell.level("server") or ""
        cores = level_of(study, cell, CORES)
        pinned = Pinning() if cores is None else pin(cpus, int(cores), most)
        yield PlannedTrial(
            number=number,
            block=placed.block,
            cell=cell,
            seed=placed.seed,
            template=templates.of(
                server, level_of(study, cell, "checksums") == "on", data_of(workload, cell)
            ),
            clients=clients,
            threads=max(1, clients // 2),  # 2021 §4.4: half of the clients
            query_mode=_query_mode(study, workload, cell),
            settings=_settings(study, cell, templates.servers[server]),
            copy=_copy_by_level(study, cell, contrasted) or copies[server],
            server_cpus=pinned.server,
            client_cpus=pinned.client,
            directory=level_of(study, cell, "directory"),
        )


def _query_mode(study: Study, workload: Workload, cell: Cell) -> QueryMode:
    own = workload.options.query_mode if isinstance(workload.options, PgbenchOptions) else None
    return QueryMode(level_of(study, cell, "query_mode") or own or QueryMode.SIMPLE)


def _copy_by_level(study: Study, cell: Cell, contrasted: Factor | None) -> int | None:
    """Servers that run side by side need a data directory each, whatever makes them differ."""
    if not study.measure.side_by_side or contrasted is None:
        return None
    return 1 + contrasted.levels.index(cell.level(contrasted.name) or "")


def _settings(study: Study, cell: Cell, installation: Installation) -> tuple[tuple[str, str], ...]:
    """All of the cell's parameters, or those that an attached server takes for a session."""
    settings = settings_of(study, cell)
    if installation.attached is None:
        return settings
    return split_settings(installation.attached, settings).by_session


def _copies(study: Study, servers: Mapping[str, Installation]) -> dict[str, int]:
    """By level of the factor server, the copy of its template: a server against itself has two,
    because two data directories are part of what differs between two versions."""
    seen: Counter[tuple[object, ...]] = Counter()
    copies = {}
    for level, installation in servers.items():
        same = (installation.place, dict(study.server_levels).get(level, ()))
        seen[same] += 1
        copies[level] = seen[same]
    return copies


def _check_servers(study: Study, servers: Sequence[tuple[str, Installation]]) -> None:
    """Two names of one installation are only meant where both are aliases (old against old)."""
    aliases = dict(study.server_aliases)
    seen: dict[str, str] = {}
    for level, installation in servers:
        other = seen.setdefault(installation.place, level)
        if other != level and not (level in aliases and other in aliases):
            raise UsageError(
                f"the servers {other} and {level} are the same installation, {installation.name}",
                "name two versions that differ (teiten pg list shows what is here); to compare a"
                " server with itself, give it two names under [servers] in the study file",
            )
